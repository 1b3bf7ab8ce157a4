import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Demo } from './seed.ts'

/** demo.json in the data directory: how to reach the service, what is in it, and where it keeps it. */
export interface DemoFileContent extends Demo {
  base_url: string
  /** Those of whoever knows this machine by the name of --host. */
  base_url_in_containers?: string
  s3_endpoint_in_containers?: string
  /** Variables, when both stores are embedded: servers of the user's own get those of the environment. */
  aws_credentials?: Record<string, string>
  s3_endpoint: string
  dynamodb_endpoint: string
  sandbox_bucket: string
  documents_bucket: string
  keys_table: string
  workspaces_table: string
  documents_table: string
  /** The functions' environment, for the command line. */
  environment: Record<string, string>
}

const NAME = 'demo.json'

/** @returns undefined when there is none */
export async function readDemoFile(directory: string): Promise<DemoFileContent | undefined> {
  const file = join(directory, NAME)
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`${file} cannot be read; start with --fresh to make it anew`, { cause: error })
  }
}

export async function writeDemoFile(directory: string, content: DemoFileContent): Promise<void> {
  // Even demonstration keys are for the owner only.
  await writeFile(join(directory, NAME), `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
}
