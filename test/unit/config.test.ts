import { describe, expect, it } from 'vitest'
import { readConfig, VARIABLES, type Variable, variableOf } from '../../lib/config.ts'

const REQUIRED = {
  KEYS_TABLE: 'keys',
  WORKSPACES_TABLE: 'workspaces',
  DOCUMENTS_TABLE: 'documents',
  RATE_LIMITS_TABLE: 'rate-limits',
  SANDBOX_BUCKET: 'sandboxes-bucket',
  DOCUMENTS_BUCKET: 'documents-bucket',
}

describe('readConfig', () => {
  it('needs the names of tables and buckets; all else has a default', () => {
    expect(readConfig(REQUIRED)).toMatchObject({
      serviceName: 'container-file-promotion',
      keysTable: 'keys',
      workspacesTable: 'workspaces',
      documentsTable: 'documents',
      rateLimitsTable: 'rate-limits',
      sandboxBucket: 'sandboxes-bucket',
      documentsBucket: 'documents-bucket',
      keyTemplates: {
        sandbox: 'sandboxes/{workspace_id}/{container_id}/{path}',
        document: 'documents/{workspace_id}/{document_id}/{attempt_id}',
      },
      leaseMs: 120_000,
      rateLimit: { requestsPerMinute: 600, burst: 100 },
      s3ForcePathStyle: false,
      corsAllowedOrigins: [],
    })
  })

  const BOUNDED = Object.entries<Variable>(VARIABLES).flatMap(([name, rule]) =>
    'min' in rule ? [{ name, variable: variableOf(name), ...rule }] : [],
  )
  it.each(BOUNDED)('takes $variable from $min to $max, and $default without it', (rule) => {
    const { name, variable, min, max } = rule
    const read = (value?: number) => readConfig({ ...REQUIRED, ...(value !== undefined && { [variable]: `${value}` }) })
    for (const value of [min, max]) expect(read(value)).toHaveProperty(name, value)
    for (const value of [min - 1, max + 1]) expect(() => read(value)).toThrow(`${variable} must be an integer from`)
    expect(read()).toHaveProperty(name, rule.default)
  })

  it.each([true, false])('takes S3_FORCE_PATH_STYLE=%s', (value) => {
    expect(readConfig({ ...REQUIRED, S3_FORCE_PATH_STYLE: `${value}` }).s3ForcePathStyle).toBe(value)
  })

  const ORIGINS = ['https://xn--bcher-kva.example', 'http://127.0.0.1:3000', 'https://a-b.c', 'http://a']
  it.each([
    ['', []],
    ['https://a.example, http://localhost:5173', ['https://a.example', 'http://localhost:5173']],
    ...ORIGINS.map((one) => [one, [one]]),
  ])('takes origins as browsers send them, with commas between: %j', (text, origins) => {
    expect(readConfig({ ...REQUIRED, CORS_ALLOWED_ORIGINS: String(text) }).corsAllowedOrigins).toEqual(origins)
  })

  const NO_ORIGINS = 'a.example ftp://a https://a.example/ https://A.example https://a"b https://a..com https://.a.com'
  const NEARLY = '* null https://a.com. https://a.example:443 http://a.example:80'
  it.each([NO_ORIGINS, NEARLY].join(' ').split(' '))('refuses the origin %s', (text) => {
    const read = () => readConfig({ ...REQUIRED, CORS_ALLOWED_ORIGINS: text })
    expect(read).toThrow('CORS_ALLOWED_ORIGINS must be origins')
  })

  it('names all problems together', () => {
    const { KEYS_TABLE: _, ...rest } = REQUIRED
    const read = () => readConfig({ ...rest, MAX_FILE_BYTES: '5 GiB', S3_FORCE_PATH_STYLE: 'yes' })
    expect(read).toThrow(/KEYS_TABLE is not set\n.*S3_FORCE_PATH_STYLE/s)
    expect(read).toThrow(/MAX_FILE_BYTES must be an integer/)
  })

  const ANYWHERE = '{workspace_id}/{container_id}/{path}'
  it.each([
    [{ KEYS_TABLE: '' }, 'KEYS_TABLE is empty'],
    [{ DOCUMENTS_BUCKET: ' ' }, 'DOCUMENTS_BUCKET is empty'],
    [{ MAX_FILE_BYTES: '' }, 'MAX_FILE_BYTES is empty'],
    [{ MAX_FILE_BYTES: '1e9' }, 'not "1e9"'],
    [{ S3_FORCE_PATH_STYLE: 'TRUE' }, 'true or false'],
    [{ SANDBOX_KEY_TEMPLATE: 'sandboxes/{container_id}/{path}' }, '{workspace_id} exactly once'],
    [{ DOCUMENTS_BUCKET: REQUIRED.SANDBOX_BUCKET, SANDBOX_KEY_TEMPLATE: ANYWHERE }, 'same place'],
  ])('refuses %j at start', (change, fault) => {
    expect(() => readConfig({ ...REQUIRED, ...change })).toThrow(fault)
  })
})
