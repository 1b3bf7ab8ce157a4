/** Public prices of us-east-1 in US dollars, as of November 2026. Change them to your Region's: the formula is in benches/cost.ts. */
export const PRICES = {
  /** aws.amazon.com/api-gateway/pricing: REST API, first 333 million a month. */
  restApiRequest: 3.5e-6,
  /** aws.amazon.com/lambda/pricing. */
  lambdaRequest: 0.2e-6,
  /** Same page: arm64, first tier. */
  lambdaGibSecond: 0.0000133334,
  /** aws.amazon.com/dynamodb/pricing/on-demand: one write unit, up to 1 KB. */
  dynamoDbWriteUnit: 0.625e-6,
  /** Same page: one read unit, a strongly consistent read of up to 4 KB. */
  dynamoDbReadUnit: 0.125e-6,
  /** Same page: a GB of a table or an index, for a month. */
  dynamoDbStorageGb: 0.25,
  /** Same page: point-in-time recovery of a GB of a table, for a month. */
  dynamoDbRecoveryGb: 0.2,
  /** aws.amazon.com/s3/pricing: S3 Standard, a GB for a month, above 500 TB. */
  s3StorageGb: 0.021,
  /** aws.amazon.com/s3/pricing: PUT, COPY, POST, LIST; S3 Standard. */
  s3WriteRequest: 5e-6,
  /** Same page: GET, HEAD and all other requests. */
  s3ReadRequest: 0.4e-6,
  /** aws.amazon.com/step-functions/pricing: one state transition of a standard workflow. */
  stepFunctionsTransition: 25e-6,
  /** aws.amazon.com/cloudwatch/pricing: logs, standard class, ingested. */
  logByte: 0.5e-9,
  /** Same page: a GB kept for a month, compressed to some 15 %. */
  logStorageGb: 0.03 * 0.15,
  /** Same page: a custom metric for a month, up to 10,000 of them. */
  metric: 0.3,
  /** Same page: a metric that an alarm of standard resolution watches, for a month. */
  alarmMetric: 0.1,
  /** Same page: a dashboard beyond the three free ones, for a month. */
  dashboard: 3,
  /** aws.amazon.com/xray/pricing: one trace recorded. */
  trace: 5e-6,
}

/** What the formula takes for granted. */
export const ASSUMPTIONS = {
  /** Of serverless.yml: memorySize. */
  memoryMib: 1024,
  /** Log line, metric line, Lambda's own three lines and the access log of one promotion. */
  logBytes: 2200,
  /** X-Ray's default sampling, at more than a few requests a second. */
  tracesPerPromotion: 0.05,
}
