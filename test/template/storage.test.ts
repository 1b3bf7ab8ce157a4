import { describe, expect, it } from 'vitest'
import { templateStatements } from '../support/template/iam-template.ts'
import { textOf } from '../support/template/intrinsics.ts'
import { EXISTING, type Packaged, packagedServices } from '../support/template/packages.ts'

const [dev, prod, existing] = await packagedServices('dev', 'prod', 'existing')

describe('buckets', () => {
  it.each(['SandboxBucket', 'DocumentsBucket', 'ServerlessDeploymentBucket'])(
    'keeps %s private, encrypted, TLS only',
    (id) => {
      const { Properties } = dev.resource(id)
      expect(Properties.PublicAccessBlockConfiguration).toEqual({
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      })
      expect(Properties.BucketEncryption.ServerSideEncryptionConfiguration).toEqual([
        { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } },
      ])
      const [transport] = dev.resource(`${id}Policy`).Properties.PolicyDocument.Statement
      expect(transport).toMatchObject({ Effect: 'Deny', Principal: '*', Action: 's3:*' })
      expect(String(transport.Condition.Bool['aws:SecureTransport'])).toBe('false')
      const denied = transport.Resource.map((resource: unknown) =>
        textOf(resource).replace(/^arn:<AWS::Partition>:s3:::|\.Arn/g, ''),
      )
      expect(denied.toSorted()).toEqual([`<${id}>`, `<${id}>/*`])
    },
  )

  it.each(['SandboxBucket', 'DocumentsBucket'])('knows no ACLs in %s and cleans up aborted uploads', (id) => {
    const { OwnershipControls, LifecycleConfiguration } = dev.resource(id).Properties
    expect(OwnershipControls.Rules).toEqual([{ ObjectOwnership: 'BucketOwnerEnforced' }])
    expect(LifecycleConfiguration.Rules).toContainEqual(
      expect.objectContaining({ Status: 'Enabled', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } }),
    )
  })

  it('keeps former versions of documents for a while', () => {
    const { VersioningConfiguration, LifecycleConfiguration } = dev.resource('DocumentsBucket').Properties
    expect(VersioningConfiguration).toEqual({ Status: 'Enabled' })
    expect(LifecycleConfiguration.Rules).toContainEqual(
      expect.objectContaining({ Status: 'Enabled', NoncurrentVersionExpiration: { NoncurrentDays: '30' } }),
    )
  })

  it.each([
    ['dev', dev, '30', undefined],
    ['prod', prod, '7', { Status: 'Enabled' }],
  ])('lets sandboxes of %s expire, and former versions soon, but nothing beside them', (_, service, days, versions) => {
    const { VersioningConfiguration, LifecycleConfiguration } = service.resource('SandboxBucket').Properties
    expect(VersioningConfiguration).toEqual(versions)
    const [rule, ...others] = LifecycleConfiguration.Rules.filter(
      ({ ExpirationInDays }: object & { ExpirationInDays?: string }) => ExpirationInDays,
    )
    expect(others).toEqual([])
    const { Prefix, ...rest } = rule
    expect([textOf(Prefix), rest]).toEqual([
      'sandboxes/',
      {
        Id: 'expire-sandboxes',
        Status: 'Enabled',
        ExpirationInDays: days,
        NoncurrentVersionExpiration: { NoncurrentDays: 1 },
      },
    ])
  })

  it('creates no bucket where one exists, and uses that in every function', () => {
    expect(existing.idsOfType('AWS::S3::Bucket')).toEqual(['ServerlessDeploymentBucket'])
    expect(existing.idsOfType('AWS::S3::BucketPolicy')).toEqual(['ServerlessDeploymentBucketPolicy'])
    for (const { Properties } of existing.ofType('AWS::Lambda::Function')) {
      expect(Properties.Environment.Variables).toMatchObject({
        SANDBOX_BUCKET: EXISTING.sandboxBucket,
        DOCUMENTS_BUCKET: EXISTING.documentsBucket,
        SANDBOX_KEY_TEMPLATE: EXISTING.sandboxKeyTemplate,
        DOCUMENT_KEY_TEMPLATE: EXISTING.documentKeyTemplate,
      })
    }
  })

  it.each([
    ['SandboxBucket', EXISTING.sandboxKmsKeyArn],
    ['DocumentsBucket', EXISTING.documentsKmsKeyArn],
  ])('encrypts a created %s with the key it is given', (id, key) => {
    expect(prod.resource(id).Properties.BucketEncryption.ServerSideEncryptionConfiguration).toEqual([
      { BucketKeyEnabled: true, ServerSideEncryptionByDefault: { SSEAlgorithm: 'aws:kms', KMSMasterKeyID: key } },
    ])
  })

  it('lets only the roles that copy or hand out objects use their keys, and only functions that of the tables', () => {
    const grantsOf = (variant: Packaged) =>
      variant
        .idsOfType('AWS::IAM::Role')
        .flatMap((role) => templateStatements(variant, role).map(({ Action, Resource }) => [role, Action, Resource]))
        .filter(([, action]) => JSON.stringify(action).includes('kms:'))
    expect(grantsOf(dev)).toEqual([])
    const granted = [
      ['PromoteContainerFileRole', 'kms:Decrypt', EXISTING.sandboxKmsKeyArn],
      ['PromoteContainerFileRole', ['kms:GenerateDataKey', 'kms:Decrypt'], EXISTING.documentsKmsKeyArn],
      ['ReadContainerFilesRole', 'kms:Decrypt', EXISTING.sandboxKmsKeyArn],
      ['ReadDocumentsRole', 'kms:Decrypt', EXISTING.documentsKmsKeyArn],
      ['OpenLinkRole', 'kms:Decrypt', EXISTING.documentsKmsKeyArn],
      ['WriteContainerFilesRole', 'kms:Decrypt', EXISTING.documentsKmsKeyArn],
      ['WriteContainerFilesRole', ['kms:GenerateDataKey', 'kms:Decrypt'], EXISTING.sandboxKmsKeyArn],
    ]
    const writing = ['SandboxWriterRole', ['kms:GenerateDataKey', 'kms:Decrypt'], EXISTING.sandboxKmsKeyArn]
    const ofTables = (service: Packaged, key: unknown) =>
      service
        .ofType('AWS::Lambda::Function')
        .map(({ Properties }) => [Properties.Role['Fn::GetAtt'][0], ['kms:Decrypt', 'kms:DescribeKey'], key])
    const decrypting = ofTables(prod, EXISTING.tablesKmsKeyArn)
    expect(decrypting.length).toBeGreaterThan(7)
    expect(new Set(grantsOf(prod))).toEqual(new Set([...granted, writing, ...decrypting]))
    const former = { 'Fn::Split': [',', EXISTING.formerKmsKeyArns] }
    const reading = [...new Set([...granted, writing].map(([role]) => role))].map((role) => [
      role,
      'kms:Decrypt',
      former,
    ])
    const others = [...reading, writing, ...decrypting, ...ofTables(existing, former)]
    expect(new Set(grantsOf(existing))).toEqual(new Set([...granted, ...others]))
  })
})

describe('tables', () => {
  it('has them encrypted, by the key if there is one, with point-in-time recovery', () => {
    for (const { Properties } of dev.ofType('AWS::DynamoDB::Table')) {
      const isKept = !Properties.TableName.endsWith('-rate-limits')
      expect(Properties.PointInTimeRecoverySpecification?.PointInTimeRecoveryEnabled ?? false).toBe(isKept)
      expect(Properties.SSESpecification).toEqual({ SSEEnabled: true })
    }
    for (const { Properties } of prod.ofType('AWS::DynamoDB::Table')) {
      const KMSMasterKeyId = EXISTING.tablesKmsKeyArn
      expect(Properties.SSESpecification).toEqual({ SSEEnabled: true, SSEType: 'KMS', KMSMasterKeyId })
    }
  })

  it('has keys and indexes as they were: CloudFormation replaces a table for another key, and refuses to change an index', () => {
    type Index = { IndexName: string; KeySchema: { AttributeName: string }[]; Projection: Record<string, string> }
    const described = dev.ofType('AWS::DynamoDB::Table').map(({ Properties }) => {
      const attributes: { AttributeName: string; AttributeType: string }[] = Properties.AttributeDefinitions
      const typeOf = new Map(attributes.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]))
      const keysOf = (schema: Index['KeySchema']) =>
        schema.map(({ AttributeName: name }) => `${name}:${typeOf.get(name)}`).join(' ')
      const indexes = ((Properties.GlobalSecondaryIndexes ?? []) as Index[]).map(
        ({ IndexName, KeySchema, Projection }) =>
          ` | ${IndexName}: ${keysOf(KeySchema)}, ${Object.values(Projection).flat().join(' ')}`,
      )
      return `${Properties.TableName.split('-dev-')[1]}: ${keysOf(Properties.KeySchema)}${indexes.join('')}`
    })
    expect(described).toMatchInlineSnapshot(`
      [
        "keys: owner_hash:S key_id:S",
        "workspaces: workspace_id:S | erasures: erasure_due:S erasure_due_at:N, KEYS_ONLY",
        "documents: workspace_id:S document_id:S | documents-by-creation: workspace_id:S listed_at:S, INCLUDE filename mime_type size_bytes created_at container_id due_at | due: due_shard:S due_at:N, KEYS_ONLY",
        "rate-limits: key_id:S",
      ]
    `)
  })

  it('has their indexes made before the resolver reads them', () => {
    const waitedFor = (service: Packaged) => service.resource('ResolveDueWorkLambdaFunction').DependsOn
    expect(waitedFor(dev)).toContain('DocumentsTable')
    expect(waitedFor(existing)).toContain('DocumentsTable')
  })
})

it('keeps data when the stack goes', () => {
  const stores = [
    ...['KeysTable', 'WorkspacesTable', 'DocumentsTable'].map(prod.resource),
    // With their policies: what stays must stay private.
    ...['SandboxBucket', 'SandboxBucketPolicy', 'DocumentsBucket', 'DocumentsBucketPolicy'].map(prod.resource),
  ]
  expect(stores.length).toBeGreaterThanOrEqual(7)
  for (const { DeletionPolicy, UpdateReplacePolicy, Properties } of stores) {
    // Else a first deployment that fails could not take it away.
    expect(Properties).not.toHaveProperty('DeletionProtectionEnabled')
    expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain'])
  }
})
