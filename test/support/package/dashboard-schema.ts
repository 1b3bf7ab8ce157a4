import { Ajv2020 } from 'ajv/dist/2020.js'

/** CloudWatch API reference, "Dashboard Body Structure and Syntax": as far as our widgets use it, and nothing beside. */
const DASHBOARD_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['widgets'],
  properties: {
    start: { type: 'string', pattern: '^-P(\\d+[DWM]|T\\d+[HM])$' },
    end: { type: 'string' },
    periodOverride: { enum: ['auto', 'inherit'] },
    widgets: { type: 'array', maxItems: 500, items: { oneOf: [widget('metric'), widget('alarm')] } },
  },
  $defs: {
    metric: {
      type: 'object',
      additionalProperties: false,
      required: ['region', 'metrics'],
      properties: {
        title: { type: 'string' },
        region: { type: 'string', pattern: '^[a-z]{2}(-[a-z]+)+-\\d$' },
        view: { enum: ['timeSeries', 'singleValue', 'bar', 'pie', 'gauge', 'table'] },
        stacked: { type: 'boolean' },
        stat: { $ref: '#/$defs/statistic' },
        period: { $ref: '#/$defs/period' },
        metrics: {
          type: 'array',
          minItems: 1,
          maxItems: 500,
          items: { anyOf: [{ $ref: '#/$defs/line' }, { $ref: '#/$defs/math' }] },
        },
      },
    },
    alarm: {
      type: 'object',
      additionalProperties: false,
      required: ['alarms'],
      properties: {
        title: { type: 'string' },
        alarms: { type: 'array', minItems: 1, maxItems: 100, items: { type: 'string', minLength: 1 } },
        sortBy: { enum: ['default', 'stateUpdatedTimestamp', 'timestamp'] },
        states: { type: 'array', items: { enum: ['ALARM', 'INSUFFICIENT_DATA', 'OK'] } },
      },
    },
    /** Namespace, metric, pairs of dimension and value, options. */
    line: {
      type: 'array',
      minItems: 2,
      prefixItems: [{ type: 'string' }, { type: 'string' }],
      items: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/options' }] },
    },
    math: {
      type: 'array',
      minItems: 1,
      maxItems: 1,
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['expression'],
        properties: {
          expression: { type: 'string', maxLength: 1024 },
          id: { type: 'string', pattern: '^[a-z][A-Za-z0-9_]*$' },
          label: { type: 'string' },
          visible: { type: 'boolean' },
          yAxis: { enum: ['left', 'right'] },
        },
      },
    },
    options: {
      type: 'object',
      additionalProperties: false,
      properties: {
        id: { type: 'string', pattern: '^[a-z][A-Za-z0-9_]*$' },
        label: { type: 'string' },
        stat: { $ref: '#/$defs/statistic' },
        period: { $ref: '#/$defs/period' },
        visible: { type: 'boolean' },
        yAxis: { enum: ['left', 'right'] },
        color: { type: 'string', pattern: '^#[0-9a-fA-F]{6}$' },
      },
    },
    statistic: { type: 'string', pattern: '^(Average|Minimum|Maximum|Sum|SampleCount|p\\d{1,2}(\\.\\d+)?)$' },
    period: { enum: [1, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400] },
  },
}

function widget(type: string) {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['type', 'x', 'y', 'width', 'height', 'properties'],
    properties: {
      type: { const: type },
      x: { type: 'integer', minimum: 0, maximum: 23 },
      y: { type: 'integer', minimum: 0 },
      width: { type: 'integer', minimum: 1, maximum: 24 },
      height: { type: 'integer', minimum: 1, maximum: 1000 },
      properties: { $ref: `#/$defs/${type}` },
    },
  }
}

const validate = new Ajv2020({ strict: false, allErrors: true }).compile(DASHBOARD_SCHEMA)

/** @returns what CloudWatch would not take */
export function problemsInDashboard(body: unknown): unknown[] {
  return validate(body) ? [] : (validate.errors ?? [])
}
