import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { AuditShard } from '../../../lib/audit/audit-shard.ts'
import { CommandError } from '../command-error.ts'
import type { Target } from '../target.ts'

/** The most work that has to be repeated if this process is killed; Ctrl-C loses nothing. */
const KEPT_UP_EACH_MS = 60_000

/** Saves how far an audit of the command line has come, one file per deployment. */
export function createCheckpoint({ local, stage, directory }: Pick<Target, 'local' | 'stage' | 'directory'>) {
  const file = join(directory, `audit-${local ? 'local' : (stage ?? 'environment')}.json`)
  let savedAtMs = performance.now()
  /** Writes under another name first, so that a reader never sees half of it. */
  async function write(shards: AuditShard[]): Promise<void> {
    savedAtMs = performance.now()
    await mkdir(dirname(file), { recursive: true })
    await writeFile(`${file}.new`, JSON.stringify({ shards }))
    await rename(`${file}.new`, file)
  }
  return {
    write,
    async keepUp(shards: AuditShard[]): Promise<void> {
      if (performance.now() - savedAtMs >= KEPT_UP_EACH_MS) await write(shards)
    },
    async read(): Promise<AuditShard[]> {
      try {
        return JSON.parse(await readFile(file, 'utf8')).shards
      } catch (cause) {
        const message = `There is no interrupted audit to go on with (${file}): begin one without --continue.`
        throw new CommandError('nothing_to_continue', message, { exitCode: 2, cause })
      }
    },
    remove: () => rm(file, { force: true }),
  }
}
