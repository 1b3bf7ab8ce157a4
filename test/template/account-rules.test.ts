import { describe, expect, it } from 'vitest'
import { applyAccountRules, tagsOf } from '../../infra/deploy/account-rules.ts'
import { EXISTING, packagedService } from '../support/template/packages.ts'

const BOUNDARY = 'arn:aws:iam::111122223333:policy/boundary'

describe('what an account demands', () => {
  it('is done to everything of its kind', async () => {
    const { resources, idsOfType } = await packagedService('dev')
    const template = { Resources: structuredClone(resources), Outputs: {} }
    const operationsKmsKeyArn = EXISTING.sandboxKmsKeyArn
    applyAccountRules(template, { rolePath: '/team/', permissionsBoundaryArn: BOUNDARY, operationsKmsKeyArn })
    const expected = {
      'AWS::IAM::Role': { Path: '/team/', PermissionsBoundary: BOUNDARY },
      'AWS::Logs::LogGroup': { KmsKeyId: operationsKmsKeyArn },
      'AWS::SNS::Topic': { KmsMasterKeyId: operationsKmsKeyArn },
    }
    for (const [type, properties] of Object.entries(expected)) {
      expect(idsOfType(type).length).toBeGreaterThan(0)
      for (const id of idsOfType(type)) expect(template.Resources[id]?.Properties, id).toMatchObject(properties)
    }
  })

  it('is nothing by default', async () => {
    const { ofType } = await packagedService('dev')
    for (const { Properties } of ofType('AWS::IAM::Role')) {
      expect(Object.keys(Properties)).not.toEqual(expect.arrayContaining(['Path']))
      expect(Object.keys(Properties)).not.toEqual(expect.arrayContaining(['PermissionsBoundary']))
    }
  })

  it('has tags of its own beside the service and the stage', () => {
    const names = { service: 'container-file-promotion', stage: 'prod' }
    expect(tagsOf({ tags: '' }, names)).toEqual(names)
    expect(tagsOf({ tags: 'team=files, cost center=12/3' }, names)).toEqual({
      ...names,
      team: 'files',
      'cost center': '12/3',
    })
  })
})
