import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { AuditRound } from '../../lib/maintenance/audit-round.ts'
import type { AuditShard } from '../../lib/maintenance/audit-shard.ts'
import { CommandError } from './command-error.ts'
import type { Target } from './connect.ts'

/** A round that was begun here, with its shards as far as they came. */
export type BegunRound = Omit<AuditRound, 'shards'> & { shards: AuditShard[] }

/** Saves the progress of a command-line audit, one file per deployment. */
export function createCheckpoint({ local, stage, directory }: Pick<Target, 'local' | 'stage' | 'directory'>) {
  const file = join(directory, `audit-${local ? 'local' : (stage ?? 'environment')}.json`)
  return {
    async read(): Promise<BegunRound> {
      try {
        return JSON.parse(await readFile(file, 'utf8'))
      } catch (cause) {
        const message = `There is no interrupted audit to go on with (${file}): begin one without --continue.`
        throw new CommandError('nothing_to_continue', message, { exitCode: 2, cause })
      }
    },
    /** Atomic: a reader never sees half of it. */
    async write(round: BegunRound): Promise<void> {
      await mkdir(dirname(file), { recursive: true })
      await writeFile(`${file}.new`, JSON.stringify(round))
      await rename(`${file}.new`, file)
    },
    remove: () => rm(file, { force: true }),
  }
}
