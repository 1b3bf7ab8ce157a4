import { describe, expect, it } from 'vitest'
import { templateStatements } from '../support/template/iam-template.ts'
import { textOf } from '../support/template/intrinsics.ts'
import { EXISTING, type Packaged, packagedServices } from '../support/template/packages.ts'

const [dev, prod, existing] = await packagedServices('dev', 'prod', 'existing')

describe('buckets', () => {
  it.each(dev.idsOfType('AWS::S3::Bucket'))('keeps %s private and encrypted', (id) => {
    const { BucketEncryption, PublicAccessBlockConfiguration } = dev.resource(id).Properties
    expect(PublicAccessBlockConfiguration).toEqual({
      ...{ BlockPublicAcls: true, BlockPublicPolicy: true },
      ...{ IgnorePublicAcls: true, RestrictPublicBuckets: true },
    })
    expect(BucketEncryption.ServerSideEncryptionConfiguration).toEqual([
      { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } },
    ])
  })

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
    const expiring = LifecycleConfiguration.Rules.filter((rule: object) => 'ExpirationInDays' in rule)
    const [Prefix, NoncurrentVersionExpiration] = [expect.anything(), { NoncurrentDays: 1 }]
    const common = { Id: 'expire-sandboxes', Status: 'Enabled', Prefix, NoncurrentVersionExpiration }
    expect(expiring).toEqual([{ ...common, ExpirationInDays: days }])
    expect(textOf(expiring[0].Prefix)).toBe('sandboxes/')
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
    const readers = new Set([...granted, writing].map(([role]) => role))
    const reading = [...readers].map((role) => [role, 'kms:Decrypt', former])
    const others = [...reading, writing, ...decrypting, ...ofTables(existing, former)]
    expect(new Set(grantsOf(existing))).toEqual(new Set([...granted, ...others]))
  })
})

describe('tables', () => {
  it('has them encrypted, by the key if there is one, with point-in-time recovery', () => {
    for (const { TableName, PointInTimeRecoverySpecification, SSESpecification } of dev.propertiesOf(
      'AWS::DynamoDB::Table',
    )) {
      const isKept = !TableName.endsWith('-rate-limits')
      expect(PointInTimeRecoverySpecification?.PointInTimeRecoveryEnabled ?? false).toBe(isKept)
      expect(SSESpecification).toEqual({ SSEEnabled: true })
    }
    const withKey = { SSEEnabled: true, SSEType: 'KMS', KMSMasterKeyId: EXISTING.tablesKmsKeyArn }
    for (const { SSESpecification } of prod.propertiesOf('AWS::DynamoDB::Table'))
      expect(SSESpecification).toEqual(withKey)
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

it.each([
  ['AWS::S3::BucketPolicy', 's3:*', ['', '/*']],
  ['AWS::SQS::QueuePolicy', 'sqs:*', ['']],
  ['AWS::SNS::TopicPolicy', 'sns:Publish', ['']],
])('everything that may have an %s takes requests by TLS only', (type, Action, parts) => {
  const policies = prod.propertiesOf(type).map(({ Bucket, Queues = [Bucket], Topics = Queues, PolicyDocument }) => {
    const { Resource, Condition, ...denied } = PolicyDocument.Statement.at(-1)
    expect(denied).toMatchObject({ Effect: 'Deny', Principal: '*', Action })
    expect(String(Condition.Bool['aws:SecureTransport'])).toBe('false')
    const names = [Resource].flat().map((each) => textOf(each).replace(/^arn:<AWS::Partition>:s3:::|\.Arn/g, ''))
    expect(names.toSorted()).toEqual(parts.map((part) => `<${Topics[0].Ref}>${part}`))
    return Topics[0].Ref
  })
  expect(policies.toSorted()).toEqual(prod.idsOfType(type.replace('Policy', '')).toSorted())
})

it('keeps data when the stack goes', () => {
  const tables = ['KeysTable', 'WorkspacesTable', 'DocumentsTable']
  // With their policies: what stays must stay private.
  const buckets = ['SandboxBucket', 'SandboxBucketPolicy', 'DocumentsBucket', 'DocumentsBucketPolicy']
  for (const { DeletionPolicy, UpdateReplacePolicy, Properties } of [...tables, ...buckets].map(prod.resource)) {
    // Else a first deployment that fails could not take it away.
    expect(Properties).not.toHaveProperty('DeletionProtectionEnabled')
    expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain'])
  }
})
