import { type Command, Option } from 'commander'
import { saveWorkspace } from '../../../lib/administration/save-workspace.ts'
import { describeWorkspace } from '../../../lib/http/operations/workspace-operations.ts'
import type { WorkspaceId } from '../../../lib/ids.ts'
import { chooseExpiry } from '../../../lib/ledger/expiry.ts'
import type { StorageUsage, WorkspaceLedger, WorkspaceSettings } from '../../../lib/ledger/ports/ledger.ts'
import { CommandError } from '../command-error.ts'
import { confirm, type Run, type Session } from '../session.ts'
import { bytes, type Columns, duration, exactBytes, table, time } from '../terminal/output.ts'
import * as values from '../terminal/parse-values.ts'
import { addCommand, addSettings, type SettingOption, settingsIn } from '../usage.ts'
import { deleteWorkspaceFor, erasureInWords } from './erase-workspace.ts'
import { requireWorkspace } from './require-workspace.ts'

const OF_ALL = 'the rate limit of all its keys together that have none of their own'
const BY_DEFAULT = 'how long documents are kept, if their promotion does not say'
const AT_MOST = 'how long documents are kept, whatever their promotion says'
/** What PUT /workspaces/{workspace_id} takes. */
const SETTINGS: readonly SettingOption<WorkspaceSettings>[] = [
  ['quotaBytes', '--quota <size>', 'its quota, such as 10GiB', values.parseSize],
  ['expireAfterSeconds', '--expire-after <duration>', BY_DEFAULT, values.parseRetention, 'never'],
  ['expireAtMostSeconds', '--expire-at-most <duration>', AT_MOST, values.parseRetention, 'never'],
  ['requestsPerMinute', '--requests-per-minute <number>', OF_ALL, values.parseRequestsPerMinute, 'default'],
  ['isDisabled', '--disabled <yes>', 'whether its keys are refused: yes', values.parseYes, 'no'],
  ['label', '--label <text>', 'a name of your own for it', values.parseLabel, 'none'],
]
const SIZES = '\nSizes: bytes, or a number with KB, MB, GB, TB, PB (powers of 1000) or KiB, … PiB (powers of 1024).'
const RETENTION =
  '\n1h to 3650d; what is not given stays. Documents that are there stay as they are: "documents expire" changes these.\nAsks if the quota goes below what is used, or to a thousandth or less.'
const AFTER = 'with --erase: begin later, 0s to 30d from now, and do not wait for it'
const DELETION =
  '\nMay be repeated. A key that is left would make it again with its next promotion. Without --erase, former versions\nof objects stay for a while (docs/tenants-and-regions.md). --erase closes it at once, and begins without the delay\nthat the API keeps: who may write the table needs none. It waits some twenty minutes; its id is never given again.\nTo erase what a deletion has left, first create the workspace again.'

const COLUMNS: Columns<WorkspaceLedger> = {
  WORKSPACE: ({ workspaceId }) => workspaceId,
  QUOTA: ({ quotaBytes }) => bytes(quotaBytes),
  USED: ({ usedBytes }) => bytes(usedBytes),
  REMAINING: (ledger) => bytes(remaining(ledger)),
  DOCUMENTS: ({ documents }) => documents.toLocaleString('en'),
}

export function addWorkspacesCommands(program: Command, run: Run): void {
  const group = program.command('workspaces').description('create, show, list, change and delete workspaces')
  const add = (usage: string, description: string) => addCommand(group, usage, description)
  const create = add('create <workspace_id>', 'make a workspace; its first promotion would, with the default settings')
  addSettings(create, SETTINGS)
    .addHelpText('after', `${SIZES} An existing workspace is never changed; repeating its settings is fine.`)
    .action(run(createWorkspace))
  add('show <workspace_id>', 'show settings, used bytes and what is under way').action(run(showWorkspace))
  add('list', 'list all workspaces').action(run(listWorkspaces))
  addSettings(add('set <workspace_id>', 'change settings of a workspace, even while promotions run'), SETTINGS)
    .addHelpText('after', SIZES + RETENTION)
    .action(run(setWorkspace))
  add('delete <workspace_id>', 'delete a workspace without documents, with its keys')
    .option('--erase', 'have the service erase it, with all versions of its objects and container files', false)
    .addOption(new Option('--after <duration>', AFTER).argParser(values.secondsBetween('0s', '30d')))
    .addOption(new Option('--cancel', 'with --erase: take back one that has not begun').conflicts('after'))
    .addHelpText('after', DELETION)
    .action(run(deleteWorkspaceFor))
}

async function createWorkspace(session: Session, workspaceId: WorkspaceId, options: object) {
  const { output, signal } = session
  const stores = await session.stores()
  const to = settingsIn<WorkspaceSettings>(options)
  const known = await stores.ledger.read(workspaceId, signal)
  const isOther = Object.entries(to).some(([setting, value]) => known?.[setting as keyof WorkspaceSettings] !== value)
  if (known && isOther) {
    const message = `Workspace ${workspaceId} is there already, with ${describe(known)}: nothing was changed; "workspaces set" does that.`
    throw new CommandError('workspace_exists', message)
  }
  // Nothing of one that somebody else makes at this moment is changed, either.
  const wanted = { to: known ? {} : to, shown: { ledger: known } }
  const { ledger, isNew } = await saveWorkspace(workspaceId, wanted, stores, signal)
  const text = `Workspace ${workspaceId} ${isNew ? 'was made' : 'was there already'}, with ${describe(ledger)}.`
  output.done(text, { ...describeWorkspace(ledger), isNew })
}

async function showWorkspace(session: Session, workspaceId: WorkspaceId) {
  const ledger = await requireWorkspace(workspaceId, await session.stores(), session.signal)
  const underWay = [...ledger.holds, ...ledger.refunds].map((each) => {
    const { documentId, attemptId, sizeBytes, leaseEndsAtMs } = each
    const what = 'refundId' in each ? 'deletion' : 'promotion'
    return { documentId, attemptId, what, sizeBytes, leaseEndsAt: new Date(leaseEndsAtMs) }
  })
  const facts = [
    ['workspace', workspaceId],
    ['quota', exactBytes(ledger.quotaBytes)],
    ['used', exactBytes(ledger.usedBytes)],
    ['remaining', exactBytes(remaining(ledger))],
    ['documents', ledger.documents.toLocaleString('en')],
    ['expire after', ledger.expireAfterSeconds ? duration(ledger.expireAfterSeconds) : 'never'],
    ['expire at most', ledger.expireAtMostSeconds ? duration(ledger.expireAtMostSeconds) : 'never'],
    ['requests a minute', ledger.requestsPerMinute?.toLocaleString('en') ?? 'default'],
    ['disabled', ledger.isDisabled ? 'yes' : 'no'],
    ['label', ledger.label ?? 'none'],
    ['made', time(ledger.createdAt)],
    ['erasure', ledger.erasure ? erasureInWords(ledger.erasure) : 'none'],
    ['under way', `${underWay.length || 'nothing'}`],
  ]
  const rows = underWay.map((each) => [each.documentId, each.what, bytes(each.sizeBytes), time(each.leaseEndsAt)])
  const more = rows.length === 0 ? '' : `\n\n${table(['DOCUMENT', 'UNDER WAY', 'SIZE', 'UNTIL'], rows)}`
  session.output.print(table([], facts) + more, { ...describeWorkspace(ledger), underWay })
}

async function listWorkspaces({ output, signal, stores }: Session) {
  const all = (await stores()).workspaces.readAll(signal)
  const { exitCode } = await output.list(all, { columns: COLUMNS, toJson: describeWorkspace, noun: 'workspaces' })
  return exitCode
}

async function setWorkspace(session: Session, workspaceId: WorkspaceId, options: object): Promise<void> {
  const { output, place, signal } = session
  const stores = await session.stores()
  const to = settingsIn<WorkspaceSettings>(options)
  const known = await requireWorkspace(workspaceId, stores, signal)
  const wanted = { ...known, ...to }
  const doubt = doubtAbout(wanted, known)
  const fromTo = `from ${exactBytes(known.quotaBytes)} to ${exactBytes(wanted.quotaBytes)}`
  if (doubt) await confirm(`The quota of ${workspaceId} in ${place} goes ${fromTo}, ${doubt}. Set it?`, session)
  const { ledger } = await saveWorkspace(workspaceId, { to, shown: { ledger: known } }, stores, signal)
  const over = ledger.usedBytes - ledger.quotaBytes
  const tooMuch =
    over > 0 ? ` That is ${exactBytes(over)} too much: no promotion fits in until that much is deleted.` : ''
  output.done(`Workspace ${workspaceId} has ${describe(ledger)}.${tooMuch}`, describeWorkspace(ledger))
}

function describe(ledger: WorkspaceLedger): string {
  const { quotaBytes, usedBytes, requestsPerMinute, isDisabled, expireAtMostSeconds: most } = ledger
  // Without one, they are kept for ever, unless their promotion says how long.
  const byDefault = chooseExpiry(undefined, ledger)
  const kept = byDefault && `for ${duration(byDefault.seconds)}${most ? `, ${duration(most)} at most` : ''}`
  return [
    `a quota of ${exactBytes(quotaBytes)}, ${exactBytes(usedBytes)} used`,
    ...(kept ? [`new documents kept ${kept}`] : []),
    ...(requestsPerMinute ? [`${requestsPerMinute} requests a minute`] : []),
    ...(isDisabled ? ['its keys refused'] : []),
  ].join('; ')
}

/** Why a quota looks like a mistake, if it does. */
function doubtAbout({ quotaBytes }: StorageUsage, known: StorageUsage): string | undefined {
  if (quotaBytes >= known.quotaBytes) return undefined
  if (quotaBytes < known.usedBytes) return `below the ${exactBytes(known.usedBytes)} that are used`
  return quotaBytes * 1000 <= known.quotaBytes ? 'a thousandth of it or less' : undefined
}

const remaining = ({ quotaBytes, usedBytes }: StorageUsage) => quotaBytes - usedBytes
