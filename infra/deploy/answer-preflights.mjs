import { OWN_ANSWER_HEADERS, preflightHeaders } from './cors-texts.mjs'
import { mockAnswer, quoted } from './mock-answers.mjs'

/**
 * Lets pages of other origins use the API: the gateway answers preflights without a function, and its own answers may be
 * read. Without origins, nothing of that: then browsers let no page of another origin in.
 * @param template the whole CloudFormation template, changed in place; before other methods are answered
 * @param {readonly string[]} origins
 */
export function answerPreflights(template, origins) {
  if (origins.length === 0) return
  const ofType = (type) => Object.entries(template.Resources).filter(([, resource]) => resource.Type === type)
  const methods = ofType('AWS::ApiGateway::Method').map(([, { Properties }]) => Properties)
  for (const id of new Set(methods.map(({ ResourceId }) => ResourceId.Ref))) {
    const ofPath = methods.filter(({ ResourceId }) => ResourceId.Ref === id).map(({ HttpMethod }) => HttpMethod)
    const headers = quoted(preflightHeaders(ofPath.toSorted()))
    const answer = { resourceId: id, method: 'OPTIONS', status: '204', headers, body: allowOrigin(origins) }
    template.Resources[`${id}Preflight`] = mockAnswer(answer)
  }
  for (const [, { Properties }] of ofType('AWS::ApiGateway::GatewayResponse')) {
    for (const [name, value] of Object.entries(OWN_ANSWER_HEADERS)) {
      Properties.ResponseParameters[`gatewayresponse.header.${name}`] = `'${value}'`
    }
  }
}

/** A header can name one origin only: the one that asks, if it is one of them. The settings' check lets no quote in. */
function allowOrigin(origins) {
  const isAllowed = origins.map((origin) => `$origin == "${origin}"`).join(' || ')
  return [
    '#set($origin = $input.params("Origin"))',
    '#if($origin == "")#set($origin = $input.params("origin"))#end',
    `#if(${isAllowed})#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)#end`,
  ].join('\n')
}
