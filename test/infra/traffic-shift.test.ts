import { beforeAll, describe, expect, it } from 'vitest'
import { textOf } from '../support/package/intrinsics.ts'
import { API_FUNCTIONS, PACKAGING_TIMEOUT_MS, type Packaged, packagedService } from '../support/package/packages.ts'

let dev: Packaged
let prod: Packaged
beforeAll(async () => {
  ;[dev, prod] = await Promise.all([packagedService('dev'), packagedService('prod')])
}, PACKAGING_TIMEOUT_MS)

describe('a deployment', () => {
  it.each(API_FUNCTIONS)('publishes a version of %s and points its alias to it', (id) => {
    const [version] = prod
      .idsOfType('AWS::Lambda::Version')
      .filter((each) => prod.resource(each).Properties.FunctionName.Ref === `${id}LambdaFunction`)
    expect(prod.resource(`${id}Alias`).Properties).toEqual({
      Name: 'live',
      FunctionName: { Ref: `${id}LambdaFunction` },
      FunctionVersion: { 'Fn::GetAtt': [version, 'Version'] },
    })
  })

  it('publishes a version of nothing else', () => {
    expect(prod.idsOfType('AWS::Lambda::Version')).toHaveLength(API_FUNCTIONS.length)
    expect(prod.idsOfType('AWS::Lambda::Alias')).toEqual(API_FUNCTIONS.map((id) => `${id}Alias`))
  })

  it('sends the requests of the gateway to the aliases, which it may invoke', () => {
    const uris = prod
      .ofType('AWS::ApiGateway::Method')
      .filter(({ Properties }) => Properties.Integration.Type === 'AWS_PROXY')
      .map(({ Properties }) => textOf(Properties.Integration.Uri))
    for (const uri of uris) expect(uri).toMatch(/\/functions\/<\w+Alias>\/invocations/)
    const permissions = prod.ofType('AWS::Lambda::Permission').map(({ Properties }) => Properties)
    const byGateway = permissions.filter(({ Principal }) => Principal === 'apigateway.amazonaws.com')
    const invoked = byGateway.map(({ FunctionName }) => FunctionName.Ref)
    expect(new Set(invoked)).toEqual(new Set(API_FUNCTIONS.map((id) => `${id}Alias`)))
  })

  it.each(API_FUNCTIONS)('shifts the traffic of %s step by step in production', (id) => {
    expect(prod.resource(`${id}Alias`).UpdatePolicy).toEqual({
      CodeDeployLambdaAliasUpdate: {
        ApplicationName: { Ref: 'TrafficShiftApplication' },
        DeploymentGroupName: { Ref: `${id}TrafficShift` },
      },
    })
    expect(prod.resource(`${id}TrafficShift`).Properties).toMatchObject({
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
      DeploymentStyle: { DeploymentType: 'BLUE_GREEN', DeploymentOption: 'WITH_TRAFFIC_CONTROL' },
    })
  })

  it.each(API_FUNCTIONS)('takes the traffic of %s back when an alarm goes off meanwhile', (id) => {
    const { AlarmConfiguration, AutoRollbackConfiguration } = prod.resource(`${id}TrafficShift`).Properties
    expect(AutoRollbackConfiguration.Events).toContain('DEPLOYMENT_STOP_ON_ALARM')
    expect(AlarmConfiguration.Enabled).toBe(true)
    const alarms = AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => Name.Ref)
    expect(alarms).toEqual([`${id}ErrorsAlarm`, 'FailuresAlarm', 'ServerErrorRateAlarm'])
    for (const alarm of alarms) expect(prod.resource(alarm).Type).toBe('AWS::CloudWatch::Alarm')
    const slug = id.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase()
    expect(prod.resource(`${id}ErrorsAlarm`).Properties.Dimensions).toEqual([
      { Name: 'FunctionName', Value: `container-file-promotion-prod-${slug}` },
      { Name: 'Resource', Value: `container-file-promotion-prod-${slug}:live` },
    ])
  })

  it.each(API_FUNCTIONS)('may shift the alias of %s, once it is allowed to', (id) => {
    expect(prod.resource(`${id}TrafficShift`).DependsOn).toEqual([`${id}ShiftPolicy`])
    const { RoleName, PolicyDocument } = prod.resource(`${id}ShiftPolicy`).Properties
    expect(RoleName).toEqual({ Ref: 'TrafficShiftRole' })
    expect(textOf(PolicyDocument.Statement[0].Resource[1])).toBe(`<${id}LambdaFunction.Arn>:*`)
  })

  it('shifts everything at once, whatever the alarms say, where it is told so', () => {
    for (const id of API_FUNCTIONS) {
      const { DeploymentConfigName, AlarmConfiguration } = dev.resource(`${id}TrafficShift`).Properties
      expect(DeploymentConfigName).toBe('CodeDeployDefault.LambdaAllAtOnce')
      expect(AlarmConfiguration.Enabled).toBe(false)
    }
  })
})
