import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { beforeEach } from 'vitest'
import type { Attributes } from '../../../lib/aws/dynamodb/stored-item.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import type { Attempt } from '../../../lib/ledger/ports/reservations.ts'
import { newAttempt, newWorkspaceId } from './ledger-values.ts'
import { useStandIns } from './stand-ins.ts'
import { openTableStores } from './table-stores.ts'

/** Stores on stand-ins and a workspace, new for each test, with items as other versions or people may leave them. */
export function useStoredItems() {
  const standIns = useStandIns()
  let workspaceId: WorkspaceId
  beforeEach(() => {
    workspaceId = newWorkspaceId()
  })

  const put = (TableName: string, Item: Attributes) => standIns().dynamoDb.send(new PutItemCommand({ TableName, Item }))
  const get = async (TableName: string, key: object): Promise<Attributes> => {
    const { Item } = await standIns().dynamoDb.send(new GetItemCommand({ TableName, Key: marshall(key) }))
    if (!Item) throw new Error('no such item')
    return Item
  }
  return {
    get workspaceId() {
      return workspaceId
    },
    get config() {
      return standIns().config
    },
    open: (now?: () => number) => openTableStores(standIns(), now),
    reservation: (change: Partial<Attempt> = {}) => newAttempt({ workspaceId, ...change }),
    put,
    get,
    readRecordItem: ({ documentId }: { documentId: string }) =>
      get(standIns().config.documentsTable, { workspace_id: workspaceId, document_id: documentId }),
  }
}
