import type { Environment } from '../../../lib/config.ts'

/** What can be restored: the parameter that names the result, and the variable that names the table. */
export const RESTORABLE = {
  workspaces: { parameter: 'workspacesTable', variable: 'WORKSPACES_TABLE' },
  reservations: { parameter: 'reservationsTable', variable: 'RESERVATIONS_TABLE' },
  documents: { parameter: 'documentsTable', variable: 'DOCUMENTS_TABLE' },
  keys: { parameter: 'keysTable', variable: 'KEYS_TABLE' },
} as const

export type Restorable = keyof typeof RESTORABLE

/** Ledger, reservations and documents refer to each other, so they must be of one moment. */
export const LEDGER: readonly Restorable[] = ['workspaces', 'reservations', 'documents']

/** The deployed table. The environment has been checked by readSettings. */
export const tableOf = (which: Restorable, env: Environment): string => env[RESTORABLE[which].variable] ?? ''

/** The name of a restored table says what and when: `…-documents-at-20261121t090000z`. */
export function targetOf(source: string, momentMs: number, mark: string): string {
  const moment = new Date(momentMs).toISOString().slice(0, 19).replace(/[-:]/g, '').toLowerCase()
  return `${source.replace(/-(at|rehearsal)-\d{8}t\d{6}z$/, '')}-${mark}-${moment}z`
}
