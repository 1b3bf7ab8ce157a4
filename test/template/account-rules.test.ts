import { describe, expect, it } from 'vitest'
import { applyAccountRules, tagsOf } from '../../infra/deploy/account-rules.ts'
import { EXISTING, packagedService } from '../support/template/packages.ts'

const dev = await packagedService('dev')
const BOUNDARY = 'arn:aws:iam::111122223333:policy/boundary'

describe('what an account demands', () => {
  it('is done to everything of its kind', () => {
    const template = { Resources: structuredClone(dev.resources), Outputs: {} }
    const operationsKmsKeyArn = EXISTING.sandboxKmsKeyArn
    applyAccountRules(template, { rolePath: '/team/', permissionsBoundaryArn: BOUNDARY, operationsKmsKeyArn })
    const expected = {
      'AWS::IAM::Role': { Path: '/team/', PermissionsBoundary: BOUNDARY },
      'AWS::Logs::LogGroup': { KmsKeyId: operationsKmsKeyArn },
      'AWS::SNS::Topic': { KmsMasterKeyId: operationsKmsKeyArn },
    }
    for (const [type, properties] of Object.entries(expected)) {
      expect(dev.idsOfType(type).length).toBeGreaterThan(0)
      for (const id of dev.idsOfType(type)) expect(template.Resources[id]?.Properties, id).toMatchObject(properties)
    }
  })

  it('is nothing by default', () => {
    const given = dev.propertiesOf('AWS::IAM::Role').flatMap(Object.keys)
    expect(given.filter((name) => name === 'Path' || name === 'PermissionsBoundary')).toEqual([])
  })

  it('has tags of its own beside the service and the stage', () => {
    const names = { service: 'container-file-promotion', stage: 'prod' }
    expect(tagsOf({ tags: '' }, names)).toEqual(names)
    const tags = { ...names, team: 'files', 'cost center': '12/3' }
    expect(tagsOf({ tags: 'team=files, cost center=12/3' }, names)).toEqual(tags)
  })
})
