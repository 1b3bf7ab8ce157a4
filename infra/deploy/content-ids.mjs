import { createHash } from 'node:crypto'

/** The contents of a deployment of the API. */
const IN_SNAPSHOT = new Set(
  ['RestApi', 'Resource', 'Method', 'GatewayResponse', 'Model', 'RequestValidator', 'Authorizer'].map(
    (type) => `AWS::ApiGateway::${type}`,
  ),
)

/**
 * Names the API's deployment after what it holds. The framework names it after the time, so that every deployment would
 * change the stack; a deployment without a name of its own content would never reach the stage.
 * @param template the whole CloudFormation template, changed in place; nothing refers to the deployment yet
 * @returns the deployment's logical id
 */
export function nameDeploymentByContent(template) {
  const [formerId, deployment] = Object.entries(template.Resources).find(
    ([, { Type }]) => Type === 'AWS::ApiGateway::Deployment',
  )
  const snapshot = Object.entries(template.Resources).filter(([, { Type }]) => IN_SNAPSHOT.has(Type))
  const content = snapshot.map(([id, { Properties }]) => [id, Properties]).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const id = `ApiGatewayDeployment${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 20)}`
  delete template.Resources[formerId]
  template.Resources[id] = deployment
  return id
}
