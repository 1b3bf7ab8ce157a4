import { readdirSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT, read } from '../pages/pages.ts'
import { fencedBlocks } from '../support/fenced-blocks.ts'
import { run, standIn } from '../support/machine/program.ts'
import { TO_CHOOSE_A_KEY } from '../support/template/cloudformation-accesses.ts'
import { accessesIn } from '../support/template/cloudformation-asking.ts'
import type { Access } from '../support/template/iam-accesses.ts'
import { emptyConditions, isAllowed, type Statement, unusedRights } from '../support/template/iam-policies.ts'
import { arnOf, readStatements, templateStatements } from '../support/template/iam-template.ts'
import { type Packaged, packagedServices } from '../support/template/packages.ts'
import { ACCOUNT, PLACEHOLDERS, statementsOfPolicies, textOfPolicy } from '../support/template/policy-files.ts'
import { useDirectory } from '../support/use-directory.ts'

/** IAM user guide, "IAM and AWS STS quotas": characters of a managed policy, but for white space. */
const MAX_CHARACTERS = 6144
const MANAGED = ['boundary', 'deployer', 'deployer-2', 'smoke', 'doctor', 'restore']
const variants = await packagedServices('dev', 'prod')
const [, prod] = variants

describe('docs/policies', () => {
  it.each([...MANAGED, 'trial'])('%s.json fits into a managed policy, in any partition', (name) => {
    const text = textOfPolicy(name)
    expect(text.replace(/\s/g, '').length).toBeLessThanOrEqual(MAX_CHARACTERS)
    expect(text).not.toContain('arn:aws')
    // No placeholder that nobody explains.
    const left = JSON.stringify(statementsOfPolicies([name]).map(({ resources, condition }) => [resources, condition]))
    expect([...new Set(left.match(/\b[A-Z]{2,}(_[A-Z]+)*\b/g))]).toEqual([])
  })

  it('have, like the roles of the stack, only conditions on keys that AWS gives the action', () => {
    const names = readdirSync(join(ROOT, 'docs/policies')).map((file) => file.replace('.json', ''))
    // Not of what trusts others: AWS's reference has no keys of their tokens.
    const files = names.filter((name) => !name.endsWith('-trust')).map((name) => statementsOfPolicies([name]))
    const roles = variants.flatMap((each) => each.idsOfType('AWS::IAM::Role').map((role) => readStatements(each, role)))
    expect([...files, ...roles].flatMap(emptyConditions)).toEqual([])
  })

  const directory = useDirectory('policies')

  it('are made as docs/deploy.md says', async () => {
    const block = fencedBlocks(read('docs/deploy.md')).find(({ text }) => text.includes('aws iam create-policy'))
    // Stands for the AWS CLI: keeps each document under the policy's name.
    const expected = '[ "$1 $2 $3 $5" = "iam create-policy --policy-name --policy-document" ] || exit 1'
    const aws = `${expected}\ncp "$(echo "$6" | cut -c8-)" '${directory()}'/"$4"`
    const env = await standIn(directory(), { aws })
    await run('sh', ['-euc', block?.text ?? 'exit 1'], { cwd: join(ROOT, 'docs/policies'), env })
    const made = (await readdir(directory())).filter((name) => name !== 'aws')
    expect(made.toSorted()).toEqual(MANAGED.map((name) => `container-file-promotion-${name}`).toSorted())
    for (const name of made) {
      const text = await readFile(join(directory(), name), 'utf8')
      expect(JSON.parse(text).Version).toBe('2012-10-17')
      const left = Object.keys(PLACEHOLDERS).filter((word) => new RegExp(`\\b${word}\\b`).test(text))
      expect(left, name).toEqual([])
    }
  })
})

describe('docs/policies/boundary.json', () => {
  const BOUNDARY = statementsOfPolicies(['boundary'])

  const place = { 'AWS::Partition': 'aws', 'AWS::Region': 'us-east-1', 'AWS::AccountId': ACCOUNT }

  /** The rights of the roles of the stack, each action on one of its resources. */
  function accessesOf(service: Packaged): Access[] {
    const statements = service.idsOfType('AWS::IAM::Role').flatMap((role) => templateStatements(service, role))
    return statements.flatMap(({ Action, Resource, Condition }) => {
      const [via = '*'] = JSON.stringify(Condition ?? '').match(/\b(s3|sqs|dynamodb)\.\*\.amazonaws\.com/) ?? []
      const context = { 'kms:ViaService': via.replace('*', 'us-east-1') }
      const resources = [Resource].flat().map((each) => arnOf(each, service, place).replaceAll('*', 'x'))
      return [Action].flat().flatMap((action) => resources.map((resource) => ({ action, resource, context })))
    })
  }

  it('covers what every role of the stack may do', () => {
    for (const service of variants) {
      const accesses = accessesOf(service)
      expect(accesses.length).toBeGreaterThan(60)
      // The test's keys are two.
      const keys: Statement[] = BOUNDARY.filter(({ Sid }) => Sid === 'OnlyWithOwnKeys').map((statement) => ({
        ...statement,
        resources: ['*'],
      }))
      expect(accesses.filter((access) => !isAllowed([...BOUNDARY, ...keys], access))).toEqual([])
    }
  })

  it('lets none of them manage anything', () => {
    const actions = BOUNDARY.flatMap((statement) => statement.actions)
    expect(
      actions.filter((action) =>
        /^(iam|sts|cloudformation|apigateway):|:(Create|Delete)(Table|Bucket|Function)/.test(action),
      ),
    ).toEqual([])
  })
})

describe('docs/policies/cross-account-sandbox-bucket.json', () => {
  const { Statement: statements } = JSON.parse(textOfPolicy('cross-account-sandbox-bucket'))
  type Statement = { Effect: string; Sid: string; Principal: object; Action: string[] }
  const allowing = (of: RegExp): Statement[] =>
    statements.filter(({ Effect, Sid }: Statement) => Effect === 'Allow' && of.test(Sid))
  const actionsOf = (all: { Action: string | string[] }[]) => all.flatMap(({ Action }) => Action).toSorted()

  it('lets both functions read that read sandboxes', () => {
    const roles = ['PROMOTE_CONTAINER_FILE_ROLE_ARN', 'READ_CONTAINER_FILES_ROLE_ARN']
    const reading = variants.flatMap((service) =>
      service
        .idsOfType('AWS::IAM::Role')
        .filter((role) => templateStatements(service, role).some(({ Sid }) => Sid === 'ReadSandboxes')),
    )
    expect([...new Set(reading)].toSorted()).toEqual(['PromoteContainerFileRole', 'ReadContainerFilesRole'])
    expect(allowing(/^LetFunctions/).map(({ Action }) => Action[0])).toEqual(['s3:GetObject', 's3:ListBucket'])
    const [read, list] = allowing(/^LetFunctions/).map(({ Principal }) => Principal)
    expect([read, list]).toEqual([{ AWS: roles }, { AWS: [...roles, 'WRITE_CONTAINER_FILES_ROLE_ARN'] }])
  })

  // The rights of keys are not given by the bucket; those of the function that writes to list are above.
  it.each([
    ['EraseWorkspacesRole', 'ERASE_WORKSPACES_ROLE_ARN', /^LetFunction(Erase|Find)/, /^(?!En|De).*Sandboxes$/],
    ['WriteContainerFilesRole', 'WRITE_CONTAINER_FILES_ROLE_ARN', /^LetFunctionWrite/, /^(?!En|De|List).*Sandboxes$/],
    ['SandboxWriterRole', 'SANDBOX_WRITER_ROLE_ARN', /Writers/, /^(?!En|De)/],
  ])('lets %s do there what it may', (role, arn, sids, ofRole) => {
    const inSandboxes = templateStatements(prod, role).filter(({ Sid }) => ofRole.test(Sid))
    expect(actionsOf(allowing(sids))).toEqual(actionsOf(inSandboxes))
    for (const { Principal } of allowing(sids)) expect(Principal).toEqual({ AWS: [arn] })
  })
})

describe('the rights of single commands', () => {
  const table = (name: string) => `arn:aws:dynamodb:us-east-1:${ACCOUNT}:table/container-file-promotion-prod-${name}`
  const documents = `arn:aws:s3:::${PLACEHOLDERS.DOCUMENTS_BUCKET}`
  const own = { 'aws:ResourceAccount': ACCOUNT }
  const of = (workspace: string) => ({ 'dynamodb:LeadingKeys': [workspace] })

  it.each<[string, string, string, Access['context'], boolean]>([
    ['smoke', 'dynamodb:UpdateItem', table('workspaces'), of('ws_smoke_1'), true],
    ['smoke', 'dynamodb:UpdateItem', table('workspaces'), of('ws_acme'), false],
    ['smoke', 'dynamodb:Query', table('documents'), of('ws_acme'), false],
    ['smoke', 'dynamodb:Scan', table('keys'), {}, false],
    ['smoke', 'dynamodb:UpdateItem', table('keys'), {}, false],
    ['smoke', 's3:GetObject', `${documents}/documents/ws_smoke_1/file_1/a`, own, true],
    ['smoke', 's3:GetObject', `${documents}/documents/ws_acme/file_1/a`, own, false],
    ['smoke', 's3:PutObject', `${documents}/documents/ws_acme/file_1/a`, own, false],
    ['smoke', 's3:GetObject', `arn:aws:s3:::${PLACEHOLDERS.SANDBOX_BUCKET}/sandboxes/ws_acme/sess_1/a`, {}, false],
    ['smoke', 's3:ListBucket', documents, { ...own, 's3:prefix': 'documents/ws_acme/' }, false],
    ['smoke', 'dynamodb:DeleteItem', table('keys').replace('prod', 'test'), {}, false],
    ['doctor', 'dynamodb:DescribeTable', table('keys'), {}, true],
    ['doctor', 'dynamodb:Query', table('workspaces/index/erasures'), {}, true],
    ['doctor', 'dynamodb:UpdateItem', table('workspaces'), of('ws_acme'), false],
    ['doctor', 'dynamodb:PutItem', table('keys'), of('0123abcd'), false],
    ['doctor', 'dynamodb:Scan', table('keys'), {}, false],
    ['doctor', 'dynamodb:GetItem', table('documents'), of('ws_acme'), false],
    ['doctor', 's3:GetObject', `${documents}/documents/ws_acme/file_1/a`, own, false],
    ['restore', 'dynamodb:UpdateTable', table('documents-at-20261121t090000z'), {}, true],
    ['restore', 'dynamodb:DeleteTable', table('documents-at-20261121t090000z'), {}, false],
    ['restore', 'dynamodb:DeleteTable', table('documents'), {}, false],
    ['restore', 'dynamodb:DeleteItem', table('documents'), {}, false],
    ['restore', 'dynamodb:Scan', table('workspaces'), {}, true],
    ['restore', 'dynamodb:UpdateItem', table('workspaces'), {}, false],
    ['restore', 'dynamodb:UpdateTable', table('documents'), {}, false],
    ['restore', 's3:DeleteObject', `${documents}/documents/ws_acme/file_1/a`, own, false],
  ])('%s: %s on %s in %j is allowed: %s', (name, action, resource, context, isExpected) => {
    expect(isAllowed(statementsOfPolicies([name]), { action, resource, context: context ?? {} })).toBe(isExpected)
  })

  // S3 user guide, "Using server-side encryption with AWS KMS keys"; DynamoDB developer guide, "Encryption at rest".
  const { KMS_KEY_ARN: ofBuckets = '', TABLES_KEY_ARN: ofTables = '' } = PLACEHOLDERS
  const OF_KEYS: [asking: RegExp, service: string, key: string, rights: string][] = [
    [/^s3:GetObject/, 's3', ofBuckets, 'kms:Decrypt'],
    [/^s3:PutObject$/, 's3', ofBuckets, 'kms:GenerateDataKey'],
    [/^dynamodb:(\w+Item|Query)$/, 'dynamodb', ofTables, 'kms:Decrypt DescribeKey'],
    [/^dynamodb:RestoreTable/, 'dynamodb', ofTables, TO_CHOOSE_A_KEY],
  ]

  it.each(['smoke', 'doctor', 'restore'])(
    '%s: those of keys go with what it reads and writes, by way of AWS',
    (name) => {
      const statements = statementsOfPolicies([name])
      const actions = statements.flatMap((statement) => statement.actions)
      const needed = OF_KEYS.filter(([asking]) => actions.some((action) => asking.test(action)))
      const accesses = needed.flatMap(([, service, key, rights]) =>
        accessesIn([[key, rights, { 'kms:ViaService': `${service}.us-east-1.amazonaws.com` }]]),
      )
      expect(accesses.filter((access) => !isAllowed(statements, access))).toEqual([])
      expect(unusedRights(statements, accesses).filter((right) => right.includes(' kms:'))).toEqual([])
      expect(accesses.filter(({ context, ...bare }) => isAllowed(statements, bare))).toEqual([])
    },
  )
})
