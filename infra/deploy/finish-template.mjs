import { answerPreflights } from './answer-preflights.mjs'
import { answerWrongRequests, pathOf } from './answer-wrong-requests.mjs'
import { nameDeploymentByContent } from './content-ids.mjs'
import { tidyDependencies } from './dependencies.mjs'

/**
 * Fills in what serverless.yml cannot say, because the framework makes up the names with every deployment.
 * @param template the whole CloudFormation template, changed in place
 * @param {readonly string[]} corsAllowedOrigins
 */
export function finishTemplate(template, corsAllowedOrigins) {
  const ofType = (type) => Object.entries(template.Resources).filter(([, resource]) => resource.Type === type)
  // Before the gateway's own answers are added: the stage's throttling is enough for those.
  throttleMethods(template, ofType)
  answerPreflights(template, corsAllowedOrigins)
  answerWrongRequests(template, corsAllowedOrigins)
  sendRequestsToAliases(ofType)
  deployToStage(template, ofType)
  takeFailedVersionsBack(ofType)
  for (const [, { Properties }] of ofType('AWS::CloudWatch::Dashboard')) {
    showAlarms(Properties.DashboardBody, ofType)
    Properties.DashboardBody = { 'Fn::Sub': JSON.stringify(Properties.DashboardBody) }
  }
  tidyDependencies(template)
}

/**
 * The stage of infra/resources/gateway.yml instead of the one that the deployment would make: that one has no settings.
 * A deployment is a snapshot of the API, so it waits for the gateway's own answers; otherwise a changed answer would
 * not reach the stage before the next deployment.
 */
function deployToStage(template, ofType) {
  const [, deployment] = theOnly(ofType('AWS::ApiGateway::Deployment'))
  const [, stage] = theOnly(ofType('AWS::ApiGateway::Stage'))
  delete deployment.Properties.StageName
  deployment.DependsOn = [deployment.DependsOn ?? []]
    .flat()
    .concat(['AWS::ApiGateway::GatewayResponse', 'AWS::ApiGateway::Method'].flatMap(ofType).map(([id]) => id))
  deployment.DependsOn = [...new Set(deployment.DependsOn)]
  stage.Properties.DeploymentId = { Ref: nameDeploymentByContent(template) }
}

/**
 * A version stays when the next one comes, but goes when the deployment that published it is rolled back. The framework
 * would keep it even then, and as Lambda refuses to publish the same code again, what was rolled back could never be
 * retried.
 */
function takeFailedVersionsBack(ofType) {
  for (const [, version] of ofType('AWS::Lambda::Version')) {
    version.DeletionPolicy = 'RetainExceptOnCreate'
    version.UpdateReplacePolicy = 'Retain'
  }
}

/** Repeats the stage's throttling for each method, so that no method can use up what all share. */
function throttleMethods(template, ofType) {
  const [, { Properties }] = theOnly(ofType('AWS::ApiGateway::Stage'))
  const [ofAll] = Properties.MethodSettings
  for (const [, { Properties: method }] of ofType('AWS::ApiGateway::Method')) {
    // API Gateway, "MethodSetting": the slashes of the path are escaped.
    const ResourcePath = `/${pathOf(template, method.ResourceId).replaceAll('/', '~1')}`
    Properties.MethodSettings.push({ ...ofAll, HttpMethod: method.HttpMethod, ResourcePath })
  }
}

function showAlarms({ widgets }, ofType) {
  const alarms = ofType('AWS::CloudWatch::Alarm').map(([id]) => `\${${id}.Arn}`)
  for (const widget of widgets.filter(({ type }) => type === 'alarm')) widget.properties.alarms = alarms
}

/** Each alias points to the version that was just published, and the gateway to the alias. */
function sendRequestsToAliases(ofType) {
  for (const [aliasId, alias] of ofType('AWS::Lambda::Alias')) {
    const functionId = alias.Properties.FunctionName.Ref
    const isOfFunction = ([, { Properties }]) => Properties.FunctionName.Ref === functionId
    const [versionId] = theOnly(ofType('AWS::Lambda::Version').filter(isOfFunction))
    alias.Properties.FunctionVersion = { 'Fn::GetAtt': [versionId, 'Version'] }
    const toAlias = (value) => {
      if (value === null || typeof value !== 'object') return value
      if (Array.isArray(value)) return value.map(toAlias)
      const [target, attribute] = value['Fn::GetAtt'] ?? []
      if (target === functionId && attribute === 'Arn') return { Ref: aliasId }
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toAlias(inner)]))
    }
    for (const [, method] of ofType('AWS::ApiGateway::Method')) {
      method.Properties.Integration = toAlias(method.Properties.Integration)
    }
    for (const [, { Properties }] of ofType('AWS::Lambda::Permission')) {
      if (Properties.Principal === 'apigateway.amazonaws.com')
        Properties.FunctionName = toAlias(Properties.FunctionName)
    }
  }
}

function theOnly(entries) {
  if (entries.length !== 1)
    throw new Error(`One resource was expected, not ${entries.map(([id]) => id).join(', ') || 'none'}`)
  return entries[0]
}
