import { createHash } from 'node:crypto'
import type { FunctionEntry } from './functions.ts'
import { addGatewayAnswers } from './gateway-answers.ts'
import { ofType, type Resource, rewrite, type Template } from './template.ts'

type Deployed = { stackName: string; corsAllowedOrigins: readonly string[]; functions: readonly FunctionEntry[] }

/** Fills in what serverless.yml cannot say: names that the framework makes up. @param template changed in place */
export function finishTemplate(template: Template, { stackName, corsAllowedOrigins, functions }: Deployed): void {
  throttleOperations(template, functions)
  addGatewayAnswers(template, corsAllowedOrigins)
  sendRequestsToAliases(template)
  deployToStage(template)
  takeFailedVersionsBack(template)
  nameAlarms(template, stackName)
  listAlarms(template)
  dropMissingDependencies(template)
}

/** Repeats the stage's throttling for each operation, so that none can use up what all share. */
function throttleOperations(template: Template, functions: Deployed['functions']): void {
  const [, { Properties }] = theOnly(ofType(template, 'AWS::ApiGateway::Stage'))
  const [ofAll] = Properties.MethodSettings
  // All requests of two seconds may come at once.
  ofAll.ThrottlingBurstLimit = String(2 * Number(ofAll.ThrottlingRateLimit))
  for (const { method: HttpMethod, resource } of functions.flatMap(({ routes }) => routes)) {
    // API Gateway, "MethodSetting": the slashes of the path are escaped.
    Properties.MethodSettings.push({ ...ofAll, HttpMethod, ResourcePath: `/${resource.replaceAll('/', '~1')}` })
  }
}

/** Each alias points to the version that was just published, and the gateway to the alias. */
function sendRequestsToAliases(template: Template): void {
  for (const [aliasId, alias] of ofType(template, 'AWS::Lambda::Alias')) {
    const functionId = alias.Properties.FunctionName.Ref
    const versions = ofType(template, 'AWS::Lambda::Version')
    const [versionId] = theOnly(versions.filter(([, { Properties }]) => Properties.FunctionName.Ref === functionId))
    alias.Properties.FunctionVersion = { 'Fn::GetAtt': [versionId, 'Version'] }
    const toAlias = (value: unknown) =>
      rewrite(value, (object) => {
        const [target, attribute] = (object['Fn::GetAtt'] ?? []) as string[]
        return target === functionId && attribute === 'Arn' ? { Ref: aliasId } : object
      })
    for (const [, method] of ofType(template, 'AWS::ApiGateway::Method'))
      method.Properties.Integration = toAlias(method.Properties.Integration)
    for (const [, { Properties }] of ofType(template, 'AWS::Lambda::Permission')) {
      if (Properties.Principal === 'apigateway.amazonaws.com')
        Properties.FunctionName = toAlias(Properties.FunctionName)
    }
  }
}

/** Uses the stage of infra/resources/gateway.yml, as the one that a deployment would make has no settings. */
function deployToStage(template: Template): void {
  const [formerId, deployment] = theOnly(ofType(template, 'AWS::ApiGateway::Deployment'))
  const [, stage] = theOnly(ofType(template, 'AWS::ApiGateway::Stage'))
  delete deployment.Properties.StageName
  // It is a snapshot of the API: an answer that changed after it would reach the stage with the next one only.
  const answers = ['GatewayResponse', 'Method'].flatMap((type) => ofType(template, `AWS::ApiGateway::${type}`))
  deployment.DependsOn = [...new Set([deployment.DependsOn ?? [], answers.map(([id]) => id)].flat(2))]
  const id = `ApiGatewayDeployment${hashOfSnapshot(template)}`
  delete template.Resources[formerId]
  template.Resources[id] = deployment
  stage.Properties.DeploymentId = { Ref: id }
}

/** The contents of a deployment of the API. */
const IN_SNAPSHOT = ['RestApi', 'Resource', 'Method', 'GatewayResponse', 'Model', 'RequestValidator', 'Authorizer']

/** The name's ending. The framework uses the time, which always changes; a fixed name would never reach the stage. */
function hashOfSnapshot(template: Template): string {
  const snapshot = IN_SNAPSHOT.flatMap((type) => ofType(template, `AWS::ApiGateway::${type}`))
  const content = snapshot.map(([id, { Properties }]) => [id, Properties]).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 20)
}

/** A version that outlived a rollback would forbid to try again, as Lambda refuses to publish the same code twice. */
function takeFailedVersionsBack(template: Template): void {
  for (const [, version] of ofType(template, 'AWS::Lambda::Version')) {
    version.DeletionPolicy = 'RetainExceptOnCreate'
    version.UpdateReplacePolicy = 'Retain'
  }
}

/** Names each alarm after its logical id, and leads from there to the section of the runbook with the same name. */
function nameAlarms(template: Template, stackName: string): void {
  for (const [id, { Properties }] of ofType(template, 'AWS::CloudWatch::Alarm')) {
    // ServerErrorRateAlarm → server-error-rate
    const words = id.replace(/Alarm$/, '').match(/[A-Z][a-z]*/g) ?? []
    const name = words.join('-').toLowerCase()
    Properties.AlarmName = `${stackName}-${name}`
    Properties.AlarmDescription += ` Runbook: docs/runbook.md#${name}`
  }
}

/** Puts every alarm onto the dashboard, whose body CloudFormation takes as text. */
function listAlarms(template: Template): void {
  const alarms = ofType(template, 'AWS::CloudWatch::Alarm').map(([id]) => `\${${id}.Arn}`)
  for (const [, { Properties }] of ofType(template, 'AWS::CloudWatch::Dashboard')) {
    const { widgets }: { widgets: Resource['Properties'][] } = Properties.DashboardBody
    for (const widget of widgets.filter(({ type }) => type === 'alarm')) widget.properties.alarms = alarms
    Properties.DashboardBody = { 'Fn::Sub': JSON.stringify(Properties.DashboardBody) }
  }
}

/** CloudFormation refuses a template that waits for what its settings have left out. */
function dropMissingDependencies({ Resources }: Template): void {
  for (const resource of Object.values(Resources)) {
    const present = [resource.DependsOn ?? []].flat().filter((id) => id in Resources)
    if (present.length > 0) resource.DependsOn = present
    else delete resource.DependsOn
  }
}

function theOnly(entries: [id: string, Resource][]): [id: string, Resource] {
  const [entry, ...others] = entries
  if (entry === undefined || others.length > 0)
    throw new Error(`One resource was expected, not ${entries.map(([id]) => id).join(', ') || 'none'}`)
  return entry
}
