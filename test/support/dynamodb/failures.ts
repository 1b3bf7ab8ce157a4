/** A failure as DynamoDB sends it. */
export class DynamoDbFailure extends Error {
  readonly statusCode: number
  readonly body: { __type: string; message?: string } & Record<string, unknown>

  constructor(statusCode: number, body: DynamoDbFailure['body']) {
    super(body.message ?? body.__type)
    this.statusCode = statusCode
    this.body = body
  }

  /** Whether it is the exception with this name. */
  is(name: string): boolean {
    return this.body.__type.endsWith(`#${name}`)
  }
}

/** DynamoDB's refusal for on-demand tables. Source of the reasons: its API reference, "ThrottlingReason". */
export function throttled(
  { TableArn }: { TableArn?: string },
  operation: 'Read' | 'Write',
  indexName: string | undefined,
): DynamoDbFailure {
  const resource = indexName === undefined ? TableArn : `${TableArn}/index/${indexName}`
  const reason = `${indexName === undefined ? 'Table' : 'Index'}${operation}KeyRangeThroughputExceeded`
  return new DynamoDbFailure(400, {
    __type: 'com.amazon.coral.availability#ThrottlingException',
    message: 'Throughput exceeds the current capacity of your table or index.',
    throttlingReasons: [{ reason, resource }],
  })
}

export function resourceNotFound(): DynamoDbFailure {
  return exception('ResourceNotFoundException', 'Requested resource not found')
}

export function exception(name: string, message: string): DynamoDbFailure {
  return new DynamoDbFailure(400, { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message })
}
