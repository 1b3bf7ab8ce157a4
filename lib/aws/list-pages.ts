import type { AttributeValue } from '@aws-sdk/client-dynamodb'

type Key = Record<string, AttributeValue>
interface Page {
  Items?: Key[] | undefined
  LastEvaluatedKey?: Key | undefined
}

/** The pages of a query or scan of DynamoDB. @param readPage given where the page starts, to be spread into the command */
export async function* listPages(
  readPage: (start: { ExclusiveStartKey?: Key }) => Promise<Page>,
): AsyncGenerator<Key[]> {
  let start: { ExclusiveStartKey?: Key } | undefined = {}
  while (start) {
    const { Items = [], LastEvaluatedKey }: Page = await readPage(start)
    yield Items
    start = LastEvaluatedKey && { ExclusiveStartKey: LastEvaluatedKey }
  }
}
