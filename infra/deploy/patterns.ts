const arn = (service: string, resource: string) =>
  new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]+:\\d{12}:${resource}$`)
const listOf = ({ source }: RegExp) => new RegExp(`^(${source.slice(1, -1)}(,(?!$)|$))+$`)

const kmsKey = arn('kms', 'key/[A-Za-z0-9-]+')

/** The kinds of infra/resources/settings.yml. */
export const PATTERNS: Readonly<Record<string, RegExp>> = {
  /** S3 user guide, "General purpose bucket naming rules". */
  bucket:
    /^(?!xn--|sthree-|\d+\.\d+\.\d+\.\d+$)(?!.*\.\.)(?!.*(-s3alias|--ol-s3|--x-s3)$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
  /** Amazon DynamoDB developer guide, "Naming rules". */
  table: /^[A-Za-z0-9_.-]{3,255}$/,
  stream: arn('dynamodb', 'table/[\\w.-]{3,255}/stream/[\\w:.-]+'),
  kmsKey,
  kmsKeys: listOf(kmsKey),
  /** A comma may be in a role's name, but separates names here. IAM, quotas: a trust policy has 2,048 characters. */
  roles: new RegExp(`(?=^.{1,1600}$)${listOf(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=.@/-]+$/).source}`),
  topic: arn('sns', '[A-Za-z0-9_-]{1,256}'),
  email: /^[^\s@]+@[^\s@]+\.[^\s@]+$/,
  account: /^\d{12}$/,
  hostName: /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/,
  certificate: arn('acm', 'certificate/[0-9a-f-]+'),
  hostedZone: /^Z[A-Z0-9]{1,31}$/,
  webAcl: arn('wafv2', 'regional/webacl/[^/]+/[0-9a-f-]+'),
  deploymentPreference:
    /^(AllAtOnce|Canary10Percent(5|10|15|30)Minutes|Linear10PercentEvery(1Minute|(2|3|10)Minutes))$/,
  /** CloudWatch Logs, PutRetentionPolicy. */
  retentionDays: /^(1|3|5|7|14|30|60|90|120|150|180|365|400|545|731|1096|1827|2192|2557|2922|3288|3653)$/,
  /** EventBridge, CreateEventBus. */
  bus: /^[\w./-]{1,256}$/,
  tags: /^[\w.:/@+ -]{1,128}=[\w.:/@+ -]{0,256}(,[\w.:/@+ -]{1,128}=[\w.:/@+ -]{0,256})*$/,
  rolePath: /^\/([\w+=,.@-]+\/)*$/,
  policy: /^arn:aws[a-z-]*:iam::(\d{12}|aws):policy\/[\w+=,.@/-]+$/,
}
