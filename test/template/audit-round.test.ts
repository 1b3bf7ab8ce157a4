import aslValidator from 'asl-validator'
import { describe, expect, it } from 'vitest'
import { NOTHING_AUDITED } from '../../lib/audit/findings.ts'
import { MAX_SHARDS } from '../../lib/config.ts'
import { readAuditDefinition } from '../support/play-round.ts'
import { templateStatements } from '../support/template/iam-template.ts'
import { textOf } from '../support/template/intrinsics.ts'
import { packagedService, type Resource } from '../support/template/packages.ts'

type State = Resource['Properties']

const dev = await packagedService('dev')

const FUNCTION_ARN = 'arn:aws:lambda:us-east-1:111122223333:function:audit'
const placeholder = (name: string) => `\${${name}}`
const machine = dev.resource('AuditRound').Properties
const statesOf = ({ States }: { States: object }): State[] =>
  Object.values<State>(States).flatMap((state) => [
    state,
    ...(state.ItemProcessor ? statesOf(state.ItemProcessor) : []),
  ])

describe('the state machine of the audit', () => {
  it('is the definition that the tests play', () => {
    expect(machine.Definition).toEqual(readAuditDefinition())
    expect(machine.StateMachineType).toBe('STANDARD')
  })

  it('has the structure of the Amazon States Language', () => {
    // As Step Functions gets it.
    const definition = JSON.stringify(machine.Definition).replace(/\$\{(\w+)\}/g, (_, name: string) =>
      textOf(machine.DefinitionSubstitutions[name], { 'AWS::Partition': 'aws' }).replace(/^<.*/, FUNCTION_ARN),
    )
    expect(definition).not.toContain('undefined')
    expect(aslValidator(JSON.parse(definition))).toMatchObject({ isValid: true, errors: [] })
  })

  it('has no task but the packaged function, which outlives none of them, and a look at its own executions', () => {
    const [look, ...tasks] = statesOf(machine.Definition).filter(({ Type }) => Type === 'Task')
    expect(look?.Resource).toBe(placeholder('ListExecutions'))
    const { AuditFunction } = machine.DefinitionSubstitutions
    expect(AuditFunction).toEqual({ 'Fn::GetAtt': ['AuditWorkspacesLambdaFunction', 'Arn'] })
    const { Timeout } = dev.resource('AuditWorkspacesLambdaFunction').Properties
    // What each is asked for is played by test/unit/audit/audit-round.test.ts.
    for (const { Resource, Parameters, TimeoutSeconds } of tasks) {
      const invoked = ['InvokeFunction', 'AuditFunction'].map(placeholder)
      expect([Resource, Parameters?.FunctionName]).toEqual(invoked)
      expect(TimeoutSeconds).toBeGreaterThan(Timeout)
    }
  })

  it('ends with what the other shards answer when one is lost with its execution', () => {
    const { ItemProcessor, ToleratedFailurePercentage } = machine.Definition.States.Shards
    expect([ItemProcessor.ProcessorConfig.Mode, ToleratedFailurePercentage]).toEqual(['DISTRIBUTED', 100])
  })

  it('fits into what an execution may have: its history, and the answers of all shards', () => {
    const { TimeoutSeconds, States } = machine.Definition
    const sliceSeconds = 240
    // Task: entered, scheduled, started, succeeded, exited. Choice: entered, exited.
    expect((TimeoutSeconds / sliceSeconds) * 7).toBeLessThan(25_000)
    const { Retry } = States.Shards.ItemProcessor.States.Slice
    // Each try: scheduled, started, failed. Stopped all the time but for a day.
    const tries = Math.max(...Retry.map(({ MaxAttempts }: { MaxAttempts: number }) => MaxAttempts))
    expect(tries * 3 + (86_400 / sliceSeconds) * 7).toBeLessThan(25_000)
    const big = Number.MAX_SAFE_INTEGER
    const counters = Object.fromEntries(Object.keys(NOTHING_AUDITED).map((name) => [name, big]))
    const ids = { roundId: 'x'.repeat(80), phase: 'documents', maxWorkspaces: 1000 }
    const numbers = { startedAtMs: big, shard: MAX_SHARDS, totalShards: MAX_SHARDS }
    const shard = { ...ids, ...numbers, counters, isComplete: true }
    expect(JSON.stringify(shard).length * MAX_SHARDS).toBeLessThan(256 * 1024)
  })

  it('may invoke its function only, and start and follow its own executions', () => {
    const name = 'container-file-promotion-dev-audit-round'
    expect(machine.StateMachineName).toBe(name)
    const statements = templateStatements(dev, 'AuditRoundRole')
    const reached = (sid: string) =>
      [statements.find(({ Sid }) => Sid === sid)?.Resource]
        .flat()
        .map((resource) => textOf(resource).replace(/^.*(?=:(stateMachine|execution):)/, ''))
    expect(reached('AuditSlices')).toEqual(['<AuditWorkspacesLambdaFunction.Arn>'])
    expect(reached('FindRoundsAndStartShards')).toEqual([`:stateMachine:${name}`])
    expect(reached('FollowShards')).toEqual([`:execution:${name}:*`, `:execution:${name}/Shards:*`])
  })

  it('is traced, and logs errors without the data of workspaces', () => {
    expect(machine).toMatchObject({
      TracingConfiguration: { Enabled: true },
      LoggingConfiguration: { Level: 'ERROR', IncludeExecutionData: false },
    })
    // Step Functions developer guide, "Logging": else the account's resource policy may grow too long.
    expect(dev.resource('AuditRoundLogGroup').Properties.LogGroupName).toMatch(/^\/aws\/vendedlogs\/states\/.*-dev-/)
  })
})
