import { join } from 'node:path'
import { startLocalService } from '../../../infra/local/service.ts'

/** The process that shared-process.ts starts. It ends when it is told to, or when the run does. */
const [, , directory = '', runPid] = process.argv
const LOOK_EVERY_MS = 2000

try {
  const root = join(import.meta.dirname, '../../..')
  const service = await startLocalService({ root, port: 0, directory, environment: {}, log: () => {} })
  const end = async () => {
    await service.stop()
    process.exit()
  }
  process.once('SIGTERM', end)
  setInterval(() => {
    if (!isRunning(Number(runPid))) void end()
  }, LOOK_EVERY_MS)
  process.send?.('started')
} catch (error) {
  process.send?.(`${(error as Error).stack}`, () => process.exit(1))
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
