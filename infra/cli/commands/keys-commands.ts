import { type Command, Option } from 'commander'
import { changeKey, type NewKey, renewToken, saveKey } from '../../../lib/administration/save-key.ts'
import { saveWorkspace } from '../../../lib/administration/save-workspace.ts'
import { saveWorkspaceKey } from '../../../lib/administration/save-workspace-key.ts'
import type { ApiKeyChange } from '../../../lib/auth/api-key-administration.ts'
import { type ApiKeyGrant, ONLY_IF_LISTED, PERMISSIONS, PLATFORM_PERMISSIONS } from '../../../lib/auth/caller.ts'
import { ServiceError } from '../../../lib/errors.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { wrongUsage } from '../command-error.ts'
import { confirm, type Run, type Session } from '../session.ts'
import { counted } from '../terminal/output.ts'
import * as values from '../terminal/parse-values.ts'
import { addCommand, addSettings, type SettingOption, settingsIn } from '../usage.ts'
import { findKey, KEY_COLUMNS, keyInWords, keyJson, stateOf } from './keys.ts'
import { requireWorkspace } from './require-workspace.ts'

type KeyOptions = { workspace?: WorkspaceId; platform?: true; mayErase?: true; management?: true } & {
  name?: string
  grace: number
}

const OF_PLATFORM = { kind: 'platform', workspaceId: undefined } as const
const NONE = { permissions: [], userId: undefined, requestsPerMinute: undefined, expiresAtMs: undefined }

const DAY_MS = 86_400_000
const PLATFORM = 'a platform key: it manages workspaces and their keys, by the API'
const MAY_ERASE = 'with --platform: it may also erase workspaces'
const MANAGEMENT = `a management key, with every permission but ${ONLY_IF_LISTED.join(', ')}, which --permission adds`
const MAY = `what the key may do, one or more, separated by commas: ${PERMISSIONS.join(', ')}`
const END = 'when it expires: a time (2027-01-31T00:00Z), a duration from now (90d, 24h; 0s: at once)'
const PER_MINUTE = '--requests-per-minute <number>'
const WITH_LINKS = ['--with-links', 'take back all links that it has made; repeat it after a minute'] as const
const OWN = "its own rate limit, in place of its workspace's"

type KeySetting = SettingOption<ApiKeyChange>
const PERMISSION: KeySetting = ['permissions', '--permission <name>', `${MAY}; or none`, values.parsePermissions]
const USER: KeySetting = ['userId', '--user <id>', 'its owner', values.parseUserId]
const EXPIRES: KeySetting = ['expiresAtMs', '--expires <when>', END, values.parseExpiry, 'never']
const LIMIT: KeySetting = ['requestsPerMinute', PER_MINUTE, OWN, values.parseRequestsPerMinute, 'default']
const DISABLE: KeySetting = ['isEnabled', '--disable', 'refuse it from now on', () => false]
const ENABLE: KeySetting = ['isEnabled', '--enable', 'accept it again', () => true]

export function addKeysCommands(program: Command, run: Run): void {
  const group = program.command('keys').description('make, list, change and end API keys')
  const add = (usage: string, description: string) => addCommand(group, usage, description)
  const create = add('create', 'make an API key and print its token, once: only its hash is stored')
    .option('--workspace <id>', 'the workspace it is for', values.parseWorkspaceId)
    .addOption(new Option('--platform', PLATFORM).conflicts(['workspace', 'management', 'permissions']))
    .addOption(new Option('--may-erase', MAY_ERASE).conflicts(['workspace', 'management', 'permissions']))
    .option('--name <name>', 'its name; a key that has it is made anew, with another token', values.parseKeyName)
    .addOption(graceOption(0, '0'))
    .addOption(new Option('--management', MANAGEMENT))
  addSettings(create, [PERMISSION, USER, EXPIRES, LIMIT]).action(run(createKey))
  add('list', 'list keys, without their tokens, which are not stored')
    .option('--workspace <id>', 'only those of this workspace', values.parseWorkspaceId)
    .action(run(listKeys))
  const change = changing('change <key_id>', 'change what is given of a key; without an option, show it')
  change.option(...WITH_LINKS)
  addSettings(change, [PERMISSION, LIMIT, EXPIRES, DISABLE, ENABLE]).action(run(changeKeyById))
  const rotate = changing('rotate <key_id>', 'give a key another token, and print it')
  addSettings(rotate.addOption(graceOption(DAY_MS, '24h')), [EXPIRES]).action(run(rotateKey))
  changing('delete <key_id>', 'delete a key for good; "change --disable" can be undone')
    .option(...WITH_LINKS)
    .action(run(deleteKey))

  function graceOption(byDefaultMs: number, words: string): Option {
    return new Option('--grace <duration>', 'how long former tokens keep working: 30s, 15m, 24h, 90d; 0: not at all')
      .argParser(values.parseDuration)
      .default(byDefaultMs, words)
  }

  function changing(usage: string, description: string): Command {
    const atOnce = '\nThe service looks the key up with every request: this applies from the next one on.'
    return add(usage, description).addHelpText('after', atOnce)
  }
}

async function createKey(session: Session, options: KeyOptions): Promise<void> {
  const { workspace: workspaceId, platform, mayErase, management, name, grace: graceMs } = options
  const { signal } = session
  const rights = { ...NONE, ...settingsIn<Pick<Required<ApiKeyGrant>, keyof typeof NONE>>(options) }
  if (!platform && !workspaceId) throw wrongUsage('Say --workspace or --platform.')
  if (!platform && !management && rights.permissions.length === 0) {
    throw wrongUsage(`A key needs --management or a --permission, of ${PERMISSIONS.join(', ')}.`)
  }
  const anyway = management && rights.permissions.find((each) => !ONLY_IF_LISTED.includes(each))
  if (anyway) throw wrongUsage(`--management has ${anyway} anyway.`)
  const stores = await session.stores()
  if (workspaceId === undefined) {
    const grant = { ...rights, ...OF_PLATFORM, permissions: mayErase ? PLATFORM_PERMISSIONS : [] }
    return showToken(await saveKey({ grant, name, graceMs }, stores, signal), session)
  }
  if ((await stores.ledger.read(workspaceId, signal)) === undefined) {
    await confirm(`There is no workspace ${workspaceId}. Make it, with the default quota?`, session)
    await saveWorkspace(workspaceId, { to: {} }, stores, signal)
  }
  const kind = management ? ('management' as const) : ('standard' as const)
  showToken(await saveWorkspaceKey({ grant: { ...rights, workspaceId, kind }, name, graceMs }, stores, signal), session)
}

async function listKeys(session: Session, { workspace }: { workspace?: WorkspaceId }) {
  const { apiKeys, ...stores } = await session.stores()
  const keys = apiKeys.list({ workspaceId: workspace }, session.signal)
  const { count, exitCode } = await session.output.list(keys, { columns: KEY_COLUMNS, toJson: keyJson, noun: 'keys' })
  if (count === 0 && workspace !== undefined) await requireWorkspace(workspace, stores, session.signal)
  return exitCode
}

async function changeKeyById(session: Session, keyId: string, { withLinks, ...options }: { withLinks?: true }) {
  const stores = await session.stores()
  const shown = await findKey(keyId, stores.apiKeys, session.signal)
  const change = settingsIn<ApiKeyChange>(options)
  if (change.isEnabled === false && stateOf(shown) === 'enabled')
    await confirm(`Refuse all requests with ${keyInWords(shown)}, in ${session.place}?`, session)
  const key = await changeKey(shown, change, stores, session.signal)
  session.output.done(`${keyInWords(key)}.`, { ...keyJson(key), ...(await takeBackLinks(keyId, withLinks, session)) })
}

/** Also those of a key that is gone. */
async function takeBackLinks(keyId: string, isAsked: true | undefined, { stores, output, signal }: Session) {
  if (!isAsked) return {}
  const linksRemoved = await (await stores()).links.removeAll({ createdBy: keyId }, signal)
  output.note(`${counted(linksRemoved, 'link')} taken back.`)
  return { linksRemoved }
}

export async function rotateKey(session: Session, keyId: string, options: { grace: number }): Promise<void> {
  const stores = await session.stores()
  const key = await findKey(keyId, stores.apiKeys, session.signal)
  const wanted = { graceMs: options.grace, change: settingsIn<ApiKeyChange>(options) }
  const renewed = await renewToken(key, wanted, stores, session.signal)
  if (renewed === undefined) throw new ServiceError('workspace_busy')
  showToken(renewed, session)
}

async function deleteKey(session: Session, keyId: string, { withLinks }: { withLinks?: true }) {
  const { apiKeys } = await session.stores()
  const key = withLinks ? await apiKeys.get(keyId, session.signal) : await findKey(keyId, apiKeys, session.signal)
  await confirm(`Delete ${key ? keyInWords(key) : keyId}, in ${session.place}?`, session)
  await apiKeys.remove(keyId, session.signal)
  const taken = await takeBackLinks(keyId, withLinks, session)
  session.output.done(`Key ${keyId} is deleted.`, { ...(key && keyJson(key)), outcome: 'deleted', ...taken })
}

/** Prints the token, alone, on standard output. This is the only time: it is stored nowhere. */
function showToken({ key, token }: Omit<NewKey, 'isNew'>, { output }: Session): void {
  const json = keyJson(key)
  output.print(token, { ...json, token })
  output.note(`This is the token of ${keyInWords(key)}. It is not stored and not shown again.`)
  const { former_tokens_end_at: end } = json
  if (end) output.note(`Its former tokens work until ${end}.`)
}
