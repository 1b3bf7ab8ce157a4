import { describe, expect, it } from 'vitest'
import { textOf } from '../support/template/intrinsics.ts'
import { operationsOf } from '../support/template/packaged-gateway.ts'
import { API_FUNCTIONS, API_FUNCTIONS_BY_DEFAULT, packagedServices } from '../support/template/packages.ts'

const [dev, prod] = await packagedServices('dev', 'prod')

describe('a deployment', () => {
  it.each(API_FUNCTIONS)(
    'publishes a version of %s, and shifts its alias there, step by step, back on an alarm',
    (id) => {
      const FunctionName = { Ref: `${id}LambdaFunction` }
      const [version] = prod
        .idsOfType('AWS::Lambda::Version')
        .filter((each) => prod.resource(each).Properties.FunctionName.Ref === FunctionName.Ref)
      const FunctionVersion = { 'Fn::GetAtt': [version, 'Version'] }
      const ApplicationName = { Ref: 'TrafficShiftApplication' }
      const DeploymentGroupName = { Ref: `${id}TrafficShift` }
      expect(prod.resource(`${id}Alias`)).toMatchObject({
        Properties: { Name: 'live', FunctionName, FunctionVersion },
        UpdatePolicy: { CodeDeployLambdaAliasUpdate: { ApplicationName, DeploymentGroupName } },
      })
      const { Properties, DependsOn } = prod.resource(`${id}TrafficShift`)
      const Alarms = ['FaultsAlarm', 'ServerErrorRateAlarm'].map((alarm) => ({ Name: { Ref: alarm } }))
      expect(Properties).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
        DeploymentStyle: { DeploymentType: 'BLUE_GREEN', DeploymentOption: 'WITH_TRAFFIC_CONTROL' },
        AutoRollbackConfiguration: { Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']) },
        AlarmConfiguration: { Enabled: true, Alarms },
      })
      // Once it is allowed to.
      expect(DependsOn).toEqual([`${id}ShiftPolicy`])
      const { RoleName, PolicyDocument } = prod.resource(`${id}ShiftPolicy`).Properties
      expect(RoleName).toEqual({ Ref: 'TrafficShiftRole' })
      expect(textOf(PolicyDocument.Statement[0].Resource[1])).toBe(`<${id}LambdaFunction.Arn>:*`)
    },
  )

  it('publishes a version of nothing else', () => {
    expect(prod.idsOfType('AWS::Lambda::Version')).toHaveLength(API_FUNCTIONS.length)
    expect(prod.idsOfType('AWS::Lambda::Alias')).toEqual(API_FUNCTIONS.map((id) => `${id}Alias`))
  })

  it('sends the requests of the gateway to the aliases, which it may invoke', () => {
    for (const { Integration } of operationsOf(prod))
      expect(textOf(Integration.Uri)).toMatch(/\/functions\/<\w+Alias>\/invocations/)
    const permissions = prod.propertiesOf('AWS::Lambda::Permission')
    const byGateway = permissions.filter(({ Principal }) => Principal === 'apigateway.amazonaws.com')
    const invoked = byGateway.map(({ FunctionName }) => FunctionName.Ref)
    expect(new Set(invoked)).toEqual(new Set(API_FUNCTIONS.map((id) => `${id}Alias`)))
  })

  it('shifts everything at once, whatever the alarms say, where it is told so', () => {
    for (const id of API_FUNCTIONS_BY_DEFAULT) {
      const { DeploymentConfigName, AlarmConfiguration } = dev.resource(`${id}TrafficShift`).Properties
      expect(DeploymentConfigName).toBe('CodeDeployDefault.LambdaAllAtOnce')
      expect(AlarmConfiguration.Enabled).toBe(false)
    }
  })
})
