import { beforeAll, describe, expect, it } from 'vitest'
import { textOf } from '../support/intrinsics.ts'
import { PACKAGING_TIMEOUT_MS, type Packaged, packagedService } from '../support/packages.ts'

let dev: Packaged
let prod: Packaged
beforeAll(async () => {
  ;[dev, prod] = await Promise.all([packagedService('dev'), packagedService('prod')])
}, PACKAGING_TIMEOUT_MS)

describe('a deployment', () => {
  it('publishes a version of the promotion, and of nothing else, and points the alias to it', () => {
    const versions = prod.idsOfType('AWS::Lambda::Version')
    expect(versions).toHaveLength(1)
    expect(prod.resource('PromoteContainerFileAlias').Properties).toEqual({
      Name: 'live',
      FunctionName: { Ref: 'PromoteContainerFileLambdaFunction' },
      FunctionVersion: { 'Fn::GetAtt': [versions[0], 'Version'] },
    })
  })

  it('sends the requests of the gateway to the alias, which it may invoke', () => {
    const [method] = prod.ofType('AWS::ApiGateway::Method')
    expect(textOf(method?.Properties.Integration.Uri)).toContain('/functions/<PromoteContainerFileAlias>/invocations')
    const permissions = prod.ofType('AWS::Lambda::Permission').map(({ Properties }) => Properties)
    const byGateway = permissions.filter(({ Principal }) => Principal === 'apigateway.amazonaws.com')
    expect(byGateway.map(({ FunctionName }) => FunctionName)).toEqual([{ Ref: 'PromoteContainerFileAlias' }])
  })

  it('shifts the traffic step by step in production', () => {
    expect(prod.resource('PromoteContainerFileAlias').UpdatePolicy).toEqual({
      CodeDeployLambdaAliasUpdate: {
        ApplicationName: { Ref: 'TrafficShiftApplication' },
        DeploymentGroupName: { Ref: 'TrafficShift' },
      },
    })
    expect(prod.resource('TrafficShift').Properties).toMatchObject({
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
      DeploymentStyle: { DeploymentType: 'BLUE_GREEN', DeploymentOption: 'WITH_TRAFFIC_CONTROL' },
    })
  })

  it('takes the traffic back when an alarm goes off meanwhile', () => {
    const { AlarmConfiguration, AutoRollbackConfiguration } = prod.resource('TrafficShift').Properties
    expect(AutoRollbackConfiguration.Events).toContain('DEPLOYMENT_STOP_ON_ALARM')
    expect(AlarmConfiguration.Enabled).toBe(true)
    const alarms = AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => Name.Ref)
    expect(alarms).toEqual(['FunctionErrorsAlarm', 'FailuresAlarm', 'ServerErrorRateAlarm'])
    for (const id of alarms) expect(prod.resource(id).Type).toBe('AWS::CloudWatch::Alarm')
    expect(prod.resource('FunctionErrorsAlarm').Properties.Dimensions).toContainEqual({
      Name: 'Resource',
      Value: 'container-file-promotion-prod-promote-container-file:live',
    })
  })

  it('shifts everything at once, whatever the alarms say, where it is told so', () => {
    const { DeploymentConfigName, AlarmConfiguration } = dev.resource('TrafficShift').Properties
    expect(DeploymentConfigName).toBe('CodeDeployDefault.LambdaAllAtOnce')
    expect(AlarmConfiguration.Enabled).toBe(false)
  })
})
