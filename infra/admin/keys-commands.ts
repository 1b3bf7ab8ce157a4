import { type Command, Option } from 'commander'
import type { ApiKeyChange } from '../../lib/auth/api-key-administration.ts'
import { PERMISSIONS, type Permission } from '../../lib/auth/caller.ts'
import type { WorkspaceId } from '../../lib/ids.ts'
import {
  changeKey,
  changePermissions,
  createKey,
  deleteKey,
  KEY_COLUMNS,
  listKeys,
  type NewKey,
  showKey,
} from './keys.ts'
import { addListOptions, type ListOptions } from './list-options.ts'
import {
  parseDuration,
  parseExpiry,
  parseKeyId,
  parseMoment,
  parsePermission,
  parseUserId,
  parseWorkspaceId,
} from './parse-values.ts'
import { rotateKey } from './rotate-key.ts'
import type { Run } from './session.ts'

interface ExpireOptions {
  at?: number
  in?: number
  never?: true
}

const AT_ONCE = '\nThe service looks each key up with every request: it works from the next one on.'
const DAY_MS = 86_400_000
const EXPIRY = 'a time (2027-01-31T00:00Z), a duration from now (90d, 24h) or never'

export function addKeysCommands(group: Command, run: Run): void {
  group
    .command('create')
    .description('make an API key and print its token, this once: only its hash is stored')
    .requiredOption('--workspace <id>', 'whose files and quota it is for', parseWorkspaceId)
    .option('--management', 'a management key: every permission', false)
    .option('--permission <name>', `what a standard key may do, repeatable: ${PERMISSIONS.join(', ')}`, parsePermission)
    .option('--user <id>', 'its owner', parseUserId)
    .option('--expires <when>', EXPIRY, parseExpiry)
    .option('--yes', 'do not ask, should there be no such workspace', false)
    .action((options: NewKey) => run((session) => createKey(options, session)))
  addListOptions(
    group
      .command('list')
      .description('the keys, without their tokens: those are stored nowhere')
      .option('--workspace <id>', 'only of this workspace', parseWorkspaceId),
    Object.keys(KEY_COLUMNS),
  ).action(({ workspace, ...options }: { workspace?: WorkspaceId } & ListOptions) =>
    run((session) => listKeys(workspace, options, session)),
  )
  group
    .command('change')
    .description('set what a standard key may do, instead of all it might')
    .argument('<key_id>', 'which key', parseKeyId)
    .requiredOption('--permission <name>', `repeatable: ${PERMISSIONS.join(', ')}`, parsePermission)
    .addHelpText('after', AT_ONCE)
    .action((keyId: string, { permission }: { permission: Permission[] }) =>
      run((session) => changePermissions(keyId, permission, session)),
    )
  addChange('disable', 'refuse a key from now on', { isEnabled: false })
  addChange('enable', 'accept a disabled key again', { isEnabled: true })
  group
    .command('expire')
    .description('set when a key expires')
    .argument('<key_id>', 'which key', parseKeyId)
    .option('--at <time>', 'for example 2027-01-31T00:00Z', parseMoment)
    .option('--in <duration>', 'from now: 30s, 15m, 24h, 90d; 0: at once', parseDuration)
    .option('--never', 'it does not expire any more')
    .addHelpText('after', AT_ONCE)
    .action((keyId: string, options: ExpireOptions, command: Command) => {
      if (Object.keys(options).length !== 1) command.error('error: one of --at, --in and --never is needed')
      const expiresAtMs = options.never ? 'never' : (options.at ?? Date.now() + (options.in ?? 0))
      return run((session) => changeKey(keyId, { expiresAtMs }, true, session))
    })
  group
    .command('rotate')
    .description('make a key like this one, print its token, and let the old key expire')
    .argument('<key_id>', 'which key', parseKeyId)
    .addOption(
      new Option('--grace <duration>', 'how long the old key works on: 30s, 15m, 24h, 90d; 0: not at all')
        .argParser(parseDuration)
        .default(DAY_MS, '24h'),
    )
    .option('--expires <when>', `when the new key expires: ${EXPIRY}; needed if the old one expires`, parseExpiry)
    .addHelpText('after', AT_ONCE)
    .action((keyId: string, options: { grace: number; expires?: number | 'never' }) =>
      run((session) => rotateKey(keyId, options, session)),
    )
  group
    .command('show')
    .description('one key')
    .argument('<key_id>', 'which key', parseKeyId)
    .action((keyId: string) => run((session) => showKey(keyId, session)))
  group
    .command('delete')
    .description('delete a key for good; "disable" can be taken back')
    .argument('<key_id>', 'which key', parseKeyId)
    .option('--yes', 'do not ask', false)
    .addHelpText('after', AT_ONCE)
    .action((keyId: string, { yes }: { yes: boolean }) => run((session) => deleteKey(keyId, yes, session)))

  function addChange(name: string, description: string, change: ApiKeyChange): void {
    group
      .command(name)
      .description(description)
      .argument('<key_id>', 'which key', parseKeyId)
      .option('--yes', 'do not ask', false)
      .addHelpText('after', AT_ONCE)
      .action((keyId: string, { yes }: { yes: boolean }) => run((session) => changeKey(keyId, change, yes, session)))
  }
}
