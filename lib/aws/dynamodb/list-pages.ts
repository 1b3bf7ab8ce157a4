import type { AttributeValue } from '@aws-sdk/client-dynamodb'

type Key = Record<string, AttributeValue>
interface Page {
  Items?: Key[] | undefined
  LastEvaluatedKey?: Key | undefined
}

/** Pages of a DynamoDB query or scan. @param readPage gets the start of the page, to be spread into the command */
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
