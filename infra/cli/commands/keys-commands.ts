import { type Command, Option } from 'commander'
import type { ApiKeyChange, ApiKeyRecord } from '../../../lib/auth/api-key-administration.ts'
import { PERMISSIONS, type Permission } from '../../../lib/auth/caller.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { CommandError, wrongUsage } from '../command-error.ts'
import type { Run, Session } from '../session.ts'
import { confirm } from '../terminal/confirm.ts'
import { addListOptions, type ListOptions } from '../terminal/list-options.ts'
import {
  parseDuration,
  parseExpiry,
  parseKeyName,
  parseLimit,
  parseMomentToCome,
  parsePermissions,
  parseRequestsPerMinute,
  parseUserId,
  parseWorkspaceId,
} from '../terminal/parse-values.ts'
import { addCommand } from '../usage.ts'
import { describeKey, findKey, KEY_COLUMNS, keyJson, keyNotFound, stateOf } from './keys.ts'
import { createKey, requirePlatformEnd, rotateKey } from './new-key.ts'
import { requireWorkspace } from './require-workspace.ts'

const DAY_MS = 86_400_000
const EXPIRY = 'a time (2027-01-31T00:00Z), a duration from now (90d, 24h) or never'
const LIMIT = "its own rate limit, in place of the stage's"
const REPEATABLE = `one or more, separated by commas: ${PERMISSIONS.join(', ')}`

export function addKeysCommands(program: Command, run: Run): void {
  const group = program.command('keys').description('make, list, change and end API keys')
  const add = (usage: string, description: string) => addCommand(group, usage, description)
  add('create', 'make an API key and print its token, once: only its hash is stored')
    .option('--workspace <id>', 'the workspace it is for', parseWorkspaceId)
    .option('--platform', 'a platform key: it manages workspaces and their keys, by the API', false)
    .option('--name <name>', 'its name; a key that has it is made anew, with another token', parseKeyName)
    .addOption(graceOption(0, '0'))
    .option('--management', 'a management key, with every permission', false)
    .option('--permission <name>', `what a standard key may do, ${REPEATABLE}`, parsePermissions)
    .option('--user <id>', 'its owner', parseUserId)
    .option('--expires <when>', EXPIRY, parseExpiry)
    .option('--requests-per-minute <number>', LIMIT, parseRequestsPerMinute)
    .action(run(createKey))
  addListOptions(add('list', 'list keys, without their tokens, which are not stored'), KEY_COLUMNS)
    .option('--workspace <id>', 'only those of this workspace', parseWorkspaceId)
    .action(run(listKeys))
  add('show <key_id>', 'show a key').action(run(showKey))
  changing('change <key_id>', 'replace the permissions of a standard key, or change the limit of any')
    .option('--permission <name>', REPEATABLE, parsePermissions)
    .option('--requests-per-minute <number>', `${LIMIT}, or default`, parseLimit)
    .action(run(changeKey))
  changing('disable <key_id>', 'refuse a key from now on').action(
    run((session, keyId: string) => change(session, keyId, { isEnabled: false })),
  )
  changing('enable <key_id>', 'accept a disabled key again').action(
    run((session, keyId: string) => change(session, keyId, { isEnabled: true })),
  )
  changing('expire <key_id>', 'set when a key expires')
    .option('--in <duration>', 'from now: 90d, 24h; 0s: at once', parseDuration)
    .option('--at <time>', '2027-01-31T00:00Z', parseMomentToCome)
    .option('--never', 'it no longer expires')
    .action(run(expireKey))
  changing('rotate <key_id>', 'give a key another token, and print it')
    .addOption(graceOption(DAY_MS, '24h'))
    .option('--expires <when>', `when the key expires, from now on: ${EXPIRY}`, parseExpiry)
    .action(run(rotateKey))
  changing('delete <key_id>', 'delete a key for good; "disable" can be undone').action(run(deleteKey))

  function graceOption(byDefaultMs: number, words: string): Option {
    return new Option('--grace <duration>', 'how long former tokens keep working: 30s, 15m, 24h, 90d; 0: not at all')
      .argParser(parseDuration)
      .default(byDefaultMs, words)
  }

  function changing(usage: string, description: string): Command {
    const atOnce = '\nThe service looks the key up with every request: this applies from the next one on.'
    return add(usage, description).addHelpText('after', atOnce)
  }
}

async function listKeys(
  session: Session,
  { workspace, ...options }: { workspace?: WorkspaceId } & ListOptions<ApiKeyRecord>,
) {
  const { apiKeys, ...stores } = await session.stores()
  const keys = apiKeys.list({ workspaceId: workspace }, session.signal)
  const listing = { ...options, columns: KEY_COLUMNS, toJson: keyJson, noun: 'keys' }
  const { count, exitCode } = await session.output.list(keys, listing)
  if (count === 0 && workspace !== undefined) await requireWorkspace(workspace, stores, session.signal)
  return exitCode
}

async function showKey(session: Session, keyId: string) {
  const key = await findKey(keyId, (await session.stores()).apiKeys, session.signal)
  session.output.print(`${describeKey(key)}.`, keyJson(key))
}

async function change(session: Session, keyId: string, changes: ApiKeyChange) {
  const { apiKeys } = await session.stores()
  const key = await findKey(keyId, apiKeys, session.signal)
  if (key.kind === 'platform' && 'expiresAtMs' in changes) requirePlatformEnd(changes.expiresAtMs)
  if (changes.permissions && key.kind !== 'standard') {
    const message = `${keyId} is a ${key.kind} key: only a standard key has permissions to choose. None was changed.`
    throw new CommandError('not_a_standard_key', message)
  }
  if (changes.isEnabled === false && stateOf(key) === 'enabled') {
    await confirm(`Refuse all requests with ${describeKey(key)}, in ${session.place}?`, session)
  }
  const changed = await apiKeys.change(keyId, changes, session.signal)
  if (changed === undefined) throw keyNotFound(keyId)
  session.output.done(`${describeKey(changed)}.`, keyJson(changed))
}

async function expireKey(session: Session, keyId: string, options: { in?: number; at?: number }) {
  if (Object.keys(options).length !== 1) throw wrongUsage('Give one of --in, --at and --never.')
  await change(session, keyId, { expiresAtMs: options.in === undefined ? options.at : Date.now() + options.in })
}

async function changeKey(
  session: Session,
  keyId: string,
  { permission, requestsPerMinute }: { permission?: Permission[]; requestsPerMinute?: number | 'default' },
) {
  if (permission === undefined && requestsPerMinute === undefined)
    throw wrongUsage('Say --permission or --requests-per-minute, or both.')
  const limit = { requestsPerMinute: requestsPerMinute === 'default' ? undefined : requestsPerMinute }
  const permissions = permission && { permissions: permission }
  await change(session, keyId, { ...permissions, ...(requestsPerMinute !== undefined && limit) })
}

async function deleteKey(session: Session, keyId: string) {
  const { apiKeys } = await session.stores()
  const key = await findKey(keyId, apiKeys, session.signal)
  await confirm(`Delete ${describeKey(key)}, in ${session.place}?`, session)
  await apiKeys.remove(keyId, session.signal)
  session.output.done(`Key ${keyId} is deleted.`, { ...keyJson(key), outcome: 'deleted' })
}
