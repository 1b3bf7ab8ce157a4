import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { unzipSync } from 'fflate'
import { SERVERLESS_CLI } from '../../infra/local/service-definition.ts'

const ROOT = join(import.meta.dirname, '../..')

export interface Resource {
  Type: string
  DeletionPolicy?: string
  DependsOn?: string | string[]
  Condition?: string
  // biome-ignore lint/suspicious/noExplicitAny: CloudFormation's properties have no one type
  Properties: any
}

export interface PackagedService {
  resources: Record<string, Resource>
  /** Folder of the unzipped artifact, as /var/task in Lambda. */
  task: string
}

/** What `serverless package` makes for the stage that the stand-ins have the tables and buckets of, unzipped. */
export async function packageLocalStage(directory: string): Promise<PackagedService> {
  const output = join(directory, 'package')
  const args = [SERVERLESS_CLI, 'package', '--stage', 'local', '--package', output]
  await promisify(execFile)(process.execPath, args, { cwd: ROOT })
  const template = JSON.parse(await readFile(join(output, 'cloudformation-template-update-stack.json'), 'utf8'))
  const task = join(directory, 'task')
  const files = unzipSync(await readFile(join(output, 'container-file-promotion.zip')))
  for (const [name, bytes] of Object.entries(files)) {
    if (name.endsWith('/')) continue
    await mkdir(dirname(join(task, name)), { recursive: true })
    await writeFile(join(task, name), bytes)
  }
  return { resources: template.Resources, task }
}
