import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { unzipSync } from 'fflate'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { SERVERLESS_CLI } from '../../infra/local/service-definition.ts'
import { readConfig } from '../../lib/config.ts'
import { REASONS } from '../../lib/errors.ts'
import { expectDocumented, OPENAPI } from '../support/openapi.ts'
import { lambdaContext, restEvent } from '../support/rest-event.ts'

const ROOT = join(import.meta.dirname, '../..')

interface Resource {
  Type: string
  DeletionPolicy?: string
  // biome-ignore lint/suspicious/noExplicitAny: CloudFormation's properties have no one type
  Properties: any
}

let directory: string
let resources: Record<string, Resource>
let files: Record<string, Uint8Array>

/** npx serverless package, for the stage that is deployed by default. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'promotion-package-'))
  const output = join(directory, 'package')
  await promisify(execFile)(process.execPath, [SERVERLESS_CLI, 'package', '--package', output], { cwd: ROOT })
  resources = JSON.parse(await readFile(join(output, 'cloudformation-template-update-stack.json'), 'utf8')).Resources
  files = unzipSync(await readFile(join(output, 'container-file-promotion.zip')))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const ofType = (type: string) => Object.values(resources).filter((resource) => resource.Type === type)

/** The function's environment, its references replaced by names. */
const functionEnvironment = (): Record<string, string> => {
  const variables: Record<string, string | { 'Fn::If': [string, { Ref: string }, string] }> =
    resources.PromoteContainerFileLambdaFunction?.Properties.Environment.Variables
  return Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : value['Fn::If'][1].Ref.toLowerCase(),
    ]),
  )
}

describe('the packaged artifact', () => {
  it('is the bundle that all other suites test, and nothing else', async () => {
    const names = Object.keys(files).filter((name) => !name.endsWith('/'))
    expect(names).toContain('dist/promote-container-file.mjs')
    for (const name of names) {
      expect(name).toMatch(/^dist\/.*\.mjs$/)
      expect(Buffer.from(files[name] ?? []).equals(await readFile(join(ROOT, name))), name).toBe(true)
    }
  })

  it('runs on its own, with the environment of the template, and answers as documented', async () => {
    const lambda = resources.PromoteContainerFileLambdaFunction?.Properties
    for (const [name, bytes] of Object.entries(files)) {
      await mkdir(dirname(join(directory, 'task', name)), { recursive: true })
      if (!name.endsWith('/')) await writeFile(join(directory, 'task', name), bytes)
    }
    for (const [name, value] of Object.entries({ ...functionEnvironment(), AWS_REGION: 'us-east-1' }))
      vi.stubEnv(name, value)
    const [module, exported] = lambda.Handler.split('.')
    const { [exported]: handler } = await import(join(directory, 'task', `${module}.mjs`))
    const answer = await handler(restEvent({ containerId: 'sess_1', fileId: 'cfile_YQ' }), lambdaContext())
    const response = { status: answer.statusCode, headers: answer.headers, body: JSON.parse(answer.body) }
    expectDocumented(response)
    expect(response).toMatchObject({ status: 401, body: { error: { metadata: { reason: 'missing_authorization' } } } })
    vi.unstubAllEnvs()
  })
})

describe('the packaged template', () => {
  it('has a function that gives up before the gateway does and has a usable configuration', () => {
    expect(resources.PromoteContainerFileLambdaFunction?.Properties).toMatchObject({
      Handler: 'dist/promote-container-file.handler',
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Timeout: 28,
      Role: { 'Fn::GetAtt': ['PromoteContainerFileRole', 'Arn'] },
    })
    expect(readConfig(functionEnvironment())).toMatchObject({
      keysTable: 'container-file-promotion-dev-keys',
      sandboxBucket: 'sandboxbucket',
      maxFileBytes: 5 * 1024 ** 3,
      defaultQuotaBytes: 10 * 1024 ** 3,
      multipartThresholdBytes: 64 * 1024 ** 2,
    })
  })

  it('resolves reservations every minute, in a function with its own role', () => {
    expect(ofType('AWS::Lambda::Function')).toHaveLength(2)
    expect(resources.ResolveReservationsLambdaFunction?.Properties).toMatchObject({
      Handler: 'dist/resolve-reservations.handler',
      Role: { 'Fn::GetAtt': ['ResolveReservationsRole', 'Arn'] },
    })
    expect(ofType('AWS::Events::Rule').map(({ Properties }) => Properties)).toMatchObject([
      { ScheduleExpression: 'rate(1 minute)', State: 'ENABLED' },
    ])
  })

  it('deploys what the gateway answers itself together with the API', () => {
    const method = ofType('AWS::ApiGateway::Method')[0] as Resource & { DependsOn: string[] }
    const names = Object.keys(resources).filter((name) => resources[name]?.Type === 'AWS::ApiGateway::GatewayResponse')
    expect(method.DependsOn).toEqual(expect.arrayContaining(names))
  })

  it('has a regional REST API with the one route and no authorizer of its own', () => {
    expect(resources.ApiGatewayRestApi?.Properties.EndpointConfiguration).toEqual({ Types: ['REGIONAL'] })
    const paths = ofType('AWS::ApiGateway::Resource').map(({ Properties }) => Properties.PathPart)
    expect(paths.toSorted()).toEqual(['containers', 'files', 'promote', 'v1', '{container_id}', '{file_id}'])
    expect(ofType('AWS::ApiGateway::Method').map(({ Properties }) => Properties)).toEqual([
      expect.objectContaining({ HttpMethod: 'POST', AuthorizationType: 'NONE', ApiKeyRequired: false }),
    ])
  })

  it('has tables on demand, with point-in-time recovery, the same as npm start makes', () => {
    const tables = ofType('AWS::DynamoDB::Table')
    expect(tables.map(({ Properties }) => Properties.TableName)).toEqual(
      ['keys', 'workspaces', 'documents', 'rate-limits'].map((name) => `container-file-promotion-dev-${name}`),
    )
    for (const { Properties } of tables) {
      expect(Properties.BillingMode).toBe('PAY_PER_REQUEST')
      expect(Properties.PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: true })
    }
    const local = inject('definition').tables
    expect(local.map(({ KeySchema }) => KeySchema)).toEqual(tables.map(({ Properties }) => Properties.KeySchema))
  })

  it('keeps data when the stack goes, and keeps buckets private', () => {
    for (const name of ['KeysTable', 'WorkspacesTable', 'DocumentsTable', 'SandboxBucket', 'DocumentsBucket']) {
      expect(resources[name]?.DeletionPolicy, name).toBe('RetainExceptOnCreate')
    }
    for (const name of ['SandboxBucket', 'DocumentsBucket']) {
      expect(resources[name]?.Properties.PublicAccessBlockConfiguration, name).toEqual({
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      })
      expect(resources[name]?.Properties.OwnershipControls.Rules).toEqual([{ ObjectOwnership: 'BucketOwnerEnforced' }])
      const [transport] = resources[`${name}Policy`]?.Properties.PolicyDocument.Statement ?? []
      expect(transport).toMatchObject({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } })
    }
  })

  it.each([
    [
      'PromoteContainerFileRole',
      'logs:CreateLogStream logs:PutLogEvents dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem s3:GetObject s3:ListBucket ' +
        's3:PutObject s3:DeleteObject s3:AbortMultipartUpload s3:ListBucketMultipartUploads',
    ],
    [
      'ResolveReservationsRole',
      'logs:CreateLogStream logs:PutLogEvents dynamodb:Scan dynamodb:UpdateItem s3:DeleteObject s3:AbortMultipartUpload ' +
        's3:ListBucketMultipartUploads',
    ],
  ])('grants %s no wildcard action and no resource but its own', (name, expected) => {
    const statements = resources[name]?.Properties.Policies.flatMap(
      (policy: { PolicyDocument: { Statement: object[] } }) => policy.PolicyDocument.Statement,
    )
    const actions = statements.flatMap(({ Action }: { Action: string | string[] }) => Action)
    expect(new Set(actions)).toEqual(new Set(expected.split(' ')))
    for (const { Resource } of statements) expect(JSON.stringify(Resource)).not.toContain('"*"')
    const objects = statements.filter(({ Action }: { Action: string | string[] }) =>
      /s3:\w+Object/.test(String(Action)),
    )
    for (const { Resource } of objects) expect(JSON.stringify(Resource)).toMatch(/"\/(sandboxes|documents)\/\*"/)
  })

  it('uses buckets that are brought along, in the environment and in the roles, and creates none', async () => {
    const output = join(directory, 'brought')
    const args = ['package', '--package', output, '--param', 'sandboxBucket=theirs', '--param', 'documentsBucket=ours']
    await promisify(execFile)(process.execPath, [SERVERLESS_CLI, ...args], { cwd: ROOT })
    const template = JSON.parse(await readFile(join(output, 'cloudformation-template-update-stack.json'), 'utf8'))
    expect(template.Conditions.CreatesSandboxBucket).toEqual({ 'Fn::Equals': ['theirs', ''] })
    expect(template.Conditions.CreatesDocumentsBucket).toEqual({ 'Fn::Equals': ['ours', ''] })
    const used = { 'Fn::If': ['CreatesSandboxBucket', { Ref: 'SandboxBucket' }, 'theirs'] }
    const lambda = template.Resources.PromoteContainerFileLambdaFunction.Properties
    expect(lambda.Environment.Variables.SANDBOX_BUCKET).toEqual(used)
    expect(JSON.stringify(template.Resources.PromoteContainerFileRole)).toContain(JSON.stringify(used))
    for (const name of ['SandboxBucket', 'SandboxBucketPolicy', 'DocumentsBucket', 'DocumentsBucketPolicy']) {
      expect(template.Resources[name].Condition, name).toBe(`Creates${name.replace('Policy', '')}`)
    }
  })

  /** API Gateway, "Gateway response types". */
  const TYPES = (
    'ACCESS_DENIED API_CONFIGURATION_ERROR AUTHORIZER_CONFIGURATION_ERROR AUTHORIZER_FAILURE BAD_REQUEST_BODY ' +
    'BAD_REQUEST_PARAMETERS DEFAULT_4XX DEFAULT_5XX EXPIRED_TOKEN INTEGRATION_FAILURE INTEGRATION_TIMEOUT INVALID_API_KEY ' +
    'INVALID_SIGNATURE MISSING_AUTHENTICATION_TOKEN QUOTA_EXCEEDED REQUEST_TOO_LARGE RESOURCE_NOT_FOUND THROTTLED ' +
    'UNAUTHORIZED UNSUPPORTED_MEDIA_TYPE WAF_FILTERED'
  ).split(' ')
  const EXPECTED_STATUS: Record<string, number> = {
    MISSING_AUTHENTICATION_TOKEN: 404,
    INTEGRATION_TIMEOUT: 503,
    INTEGRATION_FAILURE: 503,
    THROTTLED: 429,
    REQUEST_TOO_LARGE: 413,
  }

  it.each(TYPES)('gives %s our error body, its code the status', (type) => {
    const found = ofType('AWS::ApiGateway::GatewayResponse').filter(
      ({ Properties }) => Properties.ResponseType === type,
    )
    expect(found).toHaveLength(1)
    const { StatusCode, ResponseParameters, ResponseTemplates } = found[0]?.Properties ?? {}
    const isDefault = type.startsWith('DEFAULT_')
    expect(StatusCode === undefined, 'a status on a default rewrites its whole class').toBe(isDefault)
    const body = JSON.parse(ResponseTemplates['application/json'])
    const status = isDefault ? body.error.code : Number(StatusCode)
    if (EXPECTED_STATUS[type]) expect(status).toBe(EXPECTED_STATUS[type])
    expect(body.error.code).toBe(status)
    const headers = Object.fromEntries(
      Object.entries(ResponseParameters as Record<string, string>).map(([name, value]) => [
        name.replace('gatewayresponse.header.', ''),
        value.startsWith("'") ? value.slice(1, -1) : value,
      ]),
    )
    expect(headers['x-request-id']).toBe('context.requestId')
    expectDocumented({ status, headers, body })
    const { reason } = body.error.metadata as { reason: keyof typeof REASONS }
    if (REASONS[reason]) expect(REASONS[reason].status).toBe(status)
  })

  it('has no gateway response that API Gateway does not know', () => {
    expect(ofType('AWS::ApiGateway::GatewayResponse')).toHaveLength(TYPES.length)
  })
})

describe('docs/openapi.yaml', () => {
  it('lists every reason of the code, and of the gateway', () => {
    const gatewayReasons = ofType('AWS::ApiGateway::GatewayResponse').map(
      ({ Properties }) => JSON.parse(Properties.ResponseTemplates['application/json']).error.metadata.reason,
    )
    expect(new Set(OPENAPI.components.schemas.Reason.enum)).toEqual(
      new Set([...Object.keys(REASONS), ...gatewayReasons]),
    )
  })
})
