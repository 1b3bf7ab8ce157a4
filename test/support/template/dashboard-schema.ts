import { Ajv2020 } from 'ajv/dist/2020.js'

const TEXT = { type: 'string' }
const STATISTIC = { type: 'string', pattern: '^(Average|Minimum|Maximum|Sum|SampleCount|p\\d{1,2}(\\.\\d+)?)$' }
const object = (properties: object, required: string[] = []) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
})
const list = (items: object, maxItems: number) => ({ type: 'array', minItems: 1, maxItems, items })
const integer = (minimum: number, maximum = 1000) => ({ type: 'integer', minimum, maximum })

const OPTIONS = object({ label: TEXT, stat: STATISTIC, yAxis: { enum: ['left', 'right'] } })
/** Namespace, metric, pairs of dimension and value, options. */
const LINE = { type: 'array', minItems: 2, prefixItems: [TEXT, TEXT], items: { anyOf: [TEXT, OPTIONS] } }
const EXPRESSION = { type: 'string', maxLength: 1024 }
const MATH = list(object({ expression: EXPRESSION, id: { type: 'string', pattern: '^[a-z]\\w*$' } }, ['expression']), 1)

const METRIC = {
  title: TEXT,
  region: { type: 'string', pattern: '^[a-z]{2}(-[a-z]+)+-\\d$' },
  view: { const: 'timeSeries' },
  stacked: { type: 'boolean' },
  period: { enum: [1, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400] },
  metrics: list({ anyOf: [LINE, MATH] }, 500),
}
const widget = (type: string, properties: object) =>
  object(
    { type: { const: type }, x: integer(0, 23), y: integer(0), width: integer(1, 24), height: integer(1), properties },
    ['type', 'x', 'y', 'width', 'height', 'properties'],
  )

/** CloudWatch API reference, "Dashboard Body Structure and Syntax": as far as our widgets use it, and nothing beside. */
const DASHBOARD = object(
  {
    start: { type: 'string', pattern: '^-P(\\d+[DWM]|T\\d+[HM])$' },
    periodOverride: { enum: ['auto', 'inherit'] },
    widgets: list(
      {
        oneOf: [
          widget('metric', object(METRIC, ['region', 'metrics'])),
          widget('alarm', object({ title: TEXT, alarms: list({ type: 'string', minLength: 1 }, 100) }, ['alarms'])),
        ],
      },
      500,
    ),
  },
  ['widgets'],
)

const validate = new Ajv2020({ strict: false, allErrors: true }).compile(DASHBOARD)

/** @returns what CloudWatch would not take */
export function problemsInDashboard(body: unknown): unknown[] {
  return validate(body) ? [] : (validate.errors ?? [])
}
