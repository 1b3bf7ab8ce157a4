import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { VARIABLES, variableOf } from '../../lib/config.ts'

const ROOT = join(import.meta.dirname, '../..')

/** One entry of infra/resources/settings.yml, which explains it, with what lib/config.ts has for it. */
export interface Setting {
  default?: string | number | boolean
  prod?: string
  local?: string
  /** The functions' variable. */
  variable?: string
  min?: number
  max?: number
  kind?: string
  /** Markdown. */
  allowed?: string
  meaning: string
}

/** The stages with defaults of their own. */
export const STAGES = ['prod', 'local'] as const

/** By name, in the order of docs/settings.md. */
export const SETTINGS: Readonly<Record<string, Setting>> = parse(
  readFileSync(join(ROOT, 'infra/resources/settings.yml'), 'utf8'),
  { merge: true },
)
for (const [name, read] of Object.entries(VARIABLES))
  if (SETTINGS[name]) Object.assign(SETTINGS[name], read, { variable: variableOf(name) })

/** The values that a setting may have, in Markdown. */
export function allowedWords({ allowed, min, max, default: byDefault }: Setting): string {
  if (allowed !== undefined) return allowed
  return typeof byDefault === 'boolean' ? '`true`, `false`' : `${min} to ${max}`
}

/** A team's own values for a stage, and its `region`. @throws Error that says in a sentence what is wrong with the file */
export function readOwnSettings(stage: string): Record<string, unknown> {
  const name = `settings/${stage}.yml`
  if (!existsSync(join(ROOT, name))) return {}
  let settings: unknown
  try {
    settings = parse(readFileSync(join(ROOT, name), 'utf8')) ?? {}
  } catch (error) {
    throw new Error(`${name} cannot be read: ${(error as Error).message.split('\n')[0]}`)
  }
  if (typeof settings !== 'object' || Array.isArray(settings))
    throw new Error(`${name} is no list of parameters, one "name: value" a line`)
  return settings as Record<string, unknown>
}
