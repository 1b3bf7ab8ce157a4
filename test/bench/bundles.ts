import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { buildFunctions } from '../../infra/bundle/build.ts'
import { formatFileId } from '../../lib/ids.ts'
import { restEvent } from '../support/api/rest-event.ts'
import { PROMOTE_ENTRY } from '../support/template/zips.ts'
import { BENCH_TOKEN } from './simulator/dynamodb.ts'

export const ROOT = join(import.meta.dirname, '../..')

export interface Bundles {
  /** The promote function as it ships. */
  product: string
  metafile: Metafile
  /** The same entry by esbuild's defaults. */
  byDefault: string
  /** The calls of a promotion alone, by esbuild's defaults. */
  bare: string
}

let built: Promise<Bundles> | undefined
/** Builds everything that is compared, once for all benches, into a folder that is removed when the process ends. */
export function buildOnce(): Promise<Bundles> {
  built ??= buildAll()
  return built
}

async function buildAll(): Promise<Bundles> {
  const folder = await mkdtemp(join(tmpdir(), 'promotion-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const metafile = await buildFunctions({ root: ROOT, outDir: join(folder, 'product') })
  const buildByDefault = async (entryPoint: string, name: string) => {
    const outfile = join(folder, `${name}.cjs`)
    const options = { bundle: true, platform: 'node', logLevel: 'warning' } as const
    await build({ absWorkingDir: ROOT, entryPoints: [entryPoint], outfile, ...options })
    return outfile
  }
  return {
    product: join(folder, 'product/promote-container-file.mjs'),
    metafile,
    byDefault: await buildByDefault(PROMOTE_ENTRY, 'default'),
    bare: await buildByDefault('test/bench/workers/bare-handler.ts', 'bare'),
  }
}

/** The request for a file of this size; any token is a valid one to the simulator. */
export function promoteEvent(sizeBytes: number): unknown {
  const fileId = formatFileId(`output/${sizeBytes}.bin`)
  return restEvent({ containerId: 'sess_1', fileId, headers: { authorization: `Bearer ${BENCH_TOKEN}` } })
}

/** Nothing that limits one key may stand in the way. */
export const UNLIMITED = { RATE_LIMIT_PER_MINUTE: '30000' }

/** The environment Lambda gives the function, with the endpoints of the simulator. */
export function lambdaEnvironment(endpoint: string): Record<string, string> {
  return {
    // A developer's shell may have set these.
    NODE_OPTIONS: '',
    AWS_PROFILE: '',
    AWS_SESSION_TOKEN: '',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_ENDPOINT_URL_S3: endpoint,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    S3_FORCE_PATH_STYLE: 'true',
    KEYS_TABLE: 'bench-keys',
    WORKSPACES_TABLE: 'bench-workspaces',
    DOCUMENTS_TABLE: 'bench-documents',
    RATE_LIMITS_TABLE: 'bench-rate-limits',
    SANDBOX_BUCKET: 'sandboxes',
    DOCUMENTS_BUCKET: 'documents',
  }
}
