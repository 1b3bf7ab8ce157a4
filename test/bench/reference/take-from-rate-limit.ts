import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'

/** What the rate limiter writes for a key at rest. */
export const takeFromRateLimit = () =>
  new UpdateItemCommand({
    TableName: 'bench-rate-limits',
    Key: { key_id: { S: 'key_bench' } },
    UpdateExpression: 'SET tat_ms = :first_tat, expires_at = :expires_at',
    ConditionExpression: 'attribute_not_exists(tat_ms) OR tat_ms <= :now',
    ExpressionAttributeValues: {
      ':now': { N: '1795254000000' },
      ':first_tat': { N: '1795254000100' },
      ':expires_at': { N: '1795340400' },
    },
    ReturnValues: 'UPDATED_NEW',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  })
