import { paginateScan } from '@aws-sdk/client-dynamodb'
import { paginateListObjectsV2 } from '@aws-sdk/client-s3'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { TestService } from './services.ts'

/** All rows, objects and uploads by table and bucket, except rate limits, which every request to the API changes. */
export async function everythingIn({ demo, dynamoDb, s3 }: TestService): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  const { RATE_LIMITS_TABLE: _, ...environment } = demo.environment
  for (const TableName of Object.keys(environment).filter((key) => key.endsWith('_TABLE'))) {
    const rows: string[] = []
    for await (const { Items = [] } of paginateScan({ client: dynamoDb }, { TableName: environment[TableName] })) {
      rows.push(...Items.map((item) => JSON.stringify(unmarshall(item))))
    }
    found[TableName] = rows
  }
  for (const Bucket of [demo.sandbox_bucket, demo.documents_bucket]) {
    // The embedded S3 lists them on one page.
    const { Uploads = [] } = await s3.listMultipartUploads({ Bucket })
    const keys = Uploads.map(({ Key }) => `${Key}`)
    for await (const { Contents = [] } of paginateListObjectsV2({ client: s3 }, { Bucket })) {
      keys.push(...Contents.map(({ Key }) => `${Key}`))
    }
    found[Bucket] = keys
  }
  return found
}
