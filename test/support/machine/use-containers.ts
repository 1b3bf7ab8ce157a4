import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type FaultProxy, startFaultProxy } from '../protocol/fault-proxy.ts'
import { environmentOn } from '../stores/aws-endpoints.ts'
import { useDirectory } from '../use-directory.ts'
import { useService } from './services.ts'

const LIMIT = { MAX_FILE_BYTES: `${5 * 1024 ** 3}` }

/** npm run admin -- containers, on the local service, and a directory with files of this machine. */
export function useContainers() {
  const service = useService()
  const directory = useDirectory('put')
  let s3: FaultProxy
  beforeAll(async () => {
    s3 = await startFaultProxy(service().demo.s3_endpoint)
  })
  afterAll(() => s3.stop())

  return {
    service,
    directory,
    s3: () => s3,
    admin: (...args: string[]) => service().admin('containers', ...args),
    /** The command line on the same stores, with S3 behind a proxy. */
    environment: () => ({ ...environmentOn(service().demo.dynamodb_endpoint, s3.endpoint), ...LIMIT }),

    async write(name: string, content: string | Buffer = name): Promise<string> {
      const file = join(directory(), name)
      await mkdir(join(file, '..'), { recursive: true })
      await writeFile(file, content)
      return file
    },

    /** @returns the paths of all objects of a container of the demonstration's workspace, whatever their names */
    async pathsIn(container: string): Promise<string[]> {
      const Prefix = `sandboxes/ws_demo/${container}/`
      const page = await service().s3.listObjectsV2({ Bucket: service().demo.sandbox_bucket, Prefix })
      return (page.Contents ?? []).map(({ Key = '' }) => Key.slice(Prefix.length))
    },
  }
}
