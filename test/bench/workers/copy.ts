import { createS3Client } from '../../../lib/aws/clients.ts'
import { createObjectStore } from '../../../lib/aws/s3/object-store.ts'
import { readConfig } from '../../../lib/config.ts'
import { serve } from '../worker.ts'

const store = createObjectStore({ ...readConfig(process.env), client: createS3Client({ forcePathStyle: true }) })
const signal = new AbortController().signal
const keyOf = (sizeBytes: number) => `sandboxes/ws_bench/sess_1/${sizeBytes}.bin`
const objectKey = 'documents/ws_bench/file_1/attempt_1'

const methods = {
  /** The product's own copy, by its own plan. @returns seconds */
  async copy(sizeBytes: number): Promise<number> {
    const source = await store.findContainerFile(keyOf(sizeBytes), signal)
    if (source === undefined) throw new Error('the simulator knows no such file')
    const startedMs = performance.now()
    await store.copy({ source, objectKey, mimeType: 'text/plain' }, signal)
    return (performance.now() - startedMs) / 1000
  },
}
export type CopyMethods = typeof methods

serve(methods)
