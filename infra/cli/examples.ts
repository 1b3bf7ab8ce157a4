import type { Command } from 'commander'

/** Examples of commands that need more than ids. */
const EXAMPLES = [
  'workspaces create ws_acme --quota 20GiB',
  'workspaces list --sort -used --limit 10',
  'workspaces set-quota ws_acme 50GiB',
  'workspaces set ws_acme --expire-after 30d --expire-at-most 90d',
  'workspaces delete ws_acme --empty',
  'keys create --workspace ws_acme --permission files:promote,files:read --expires 90d',
  'keys list --workspace ws_acme',
  'keys change key_0XKzWvX1dQ9Cd3BBZ4oiSQ1LRtDC --permission files:read,files:delete',
  'keys expire key_0XKzWvX1dQ9Cd3BBZ4oiSQ1LRtDC 30d',
  'keys rotate key_0XKzWvX1dQ9Cd3BBZ4oiSQ1LRtDC --grace 24h',
  'documents get ws_acme file_ChGEzHh4gNnrXCdfGHJtP --output report.csv',
  'documents expire ws_acme file_ChGEzHh4gNnrXCdfGHJtP --in 7d',
  'documents delete ws_acme file_ChGEzHh4gNnrXCdfGHJtP,file_ChGEzKRzNbJLPs9Sz2UTq',
  'containers put results/ --container sess_b3t1 --workspace ws_acme',
  'containers list sess_b3t1 --workspace ws_acme',
  'containers remove sess_b3t1 results/draft.csv --workspace ws_acme',
  'containers grant sess_b3t1 --workspace ws_acme --for 1h --form process',
  'containers upload-url sess_b3t1 report.csv --workspace ws_acme --max-bytes 20MiB',
  'audit --workspace ws_acme --repair',
  'restore tables --at 2026-11-21T09:00Z',
]
const IDS: Record<string, string> = {
  workspace_id: 'ws_acme',
  key_id: 'key_0XKzWvX1dQ9Cd3BBZ4oiSQ1LRtDC',
  document_id: 'file_ChGEzHh4gNnrXCdfGHJtP',
}

/** Adds its example to the help of each command. */
export function addExamples(program: Command, command = program, path: readonly string[] = []): void {
  for (const each of command.commands) addExamples(program, each, [...path, each.name()])
  if (command.commands.length > 0) return
  const ids = command.registeredArguments.map((argument) => IDS[argument.name()])
  const example = EXAMPLES.find((each) => each.startsWith(`${path.join(' ')} `)) ?? [...path, ...ids].join(' ')
  command.addHelpText('after', `\nFor example:\n  ${program.name()} --stage prod ${example}`)
}
