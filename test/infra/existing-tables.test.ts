import { describe, expect, it } from 'vitest'
import { nameExistingTables, tablesOf, useExistingTables } from '../../infra/deploy/existing-tables.mjs'
import { SETTING_RULES } from '../../infra/deploy/setting-rules.ts'
import { PACKAGING_TIMEOUT_MS, packagedService } from '../support/package/packages.ts'

const ARN = `arn:\${AWS::Partition}:dynamodb:\${AWS::Region}:\${AWS::AccountId}:table/kept`

describe('tables that exist', () => {
  it('can be named for every table of the template', { timeout: PACKAGING_TIMEOUT_MS }, async () => {
    const { resources } = await packagedService('dev')
    const tables = tablesOf(resources, {})
    expect(tables.map(({ ownName }) => ownName)).toContain('container-file-promotion-dev-keys')
    for (const { parameter } of tables) expect(SETTING_RULES).toHaveProperty(parameter)
  })

  it('take the place of the stack’s wherever it is spoken of', () => {
    const template = {
      Resources: {
        KeysTable: { Type: 'AWS::DynamoDB::Table', Properties: { TableName: 'own' } },
        OtherTable: { Type: 'AWS::DynamoDB::Table', Properties: { TableName: 'own-other' } },
        Role: {
          Type: 'AWS::IAM::Role',
          Properties: {
            all: [
              { 'Fn::GetAtt': ['KeysTable', 'Arn'] },
              { 'Fn::Sub': `\${KeysTable.Arn}/index/*` },
              { 'Fn::Sub': [`\${KeysTable} \${x}`, { x: { Ref: 'KeysTable' } }] },
            ],
            others: [{ 'Fn::GetAtt': ['OtherTable', 'Arn'] }, 'own-other'],
            dimension: 'own',
          },
        },
      },
      Outputs: { KeysTable: { Value: { Ref: 'KeysTable' } } },
    }
    useExistingTables(template, { keysTable: 'kept', otherTable: '' })
    expect(template.Resources).not.toHaveProperty('KeysTable')
    expect(template.Resources).toHaveProperty('OtherTable')
    expect(template.Resources.Role.Properties).toEqual({
      all: [{ 'Fn::Sub': ARN }, { 'Fn::Sub': `${ARN}/index/*` }, { 'Fn::Sub': [`kept \${x}`, { x: 'kept' }] }],
      others: [{ 'Fn::GetAtt': ['OtherTable', 'Arn'] }, 'own-other'],
      dimension: 'kept',
    })
    expect(template.Outputs.KeysTable.Value).toBe('kept')
  })

  it('are in the environment before versions are named after it', () => {
    const service = {
      provider: { environment: { KEYS_TABLE: 'own', SERVICE_NAME: 'own-service' } },
      resources: { Resources: { KeysTable: { Type: 'AWS::DynamoDB::Table', Properties: { TableName: 'own' } } } },
      custom: { settings: { keysTable: 'kept' } },
    }
    nameExistingTables(service)
    expect(service.provider.environment).toEqual({ KEYS_TABLE: 'kept', SERVICE_NAME: 'own-service' })
  })
})
