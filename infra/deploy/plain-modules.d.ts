/** What tests import of the plugin, which is plain JavaScript (plugin.mjs says why). */
interface Resources {
  Resources: Record<string, { Type: string; Properties: object }>
  Outputs?: object
}

declare module '*/finish-template.mjs' {
  export function finishTemplate(template: Resources, corsAllowedOrigins: readonly string[]): void
}

declare module '*/account-rules.mjs' {
  type Settings = Readonly<Record<string, unknown>>

  export function applyAccountRules(template: Resources, settings: Settings): void
  export function tagsOf(settings: { tags?: string }, names: { service: string; stage: string }): Record<string, string>
}

declare module '*/existing-tables.mjs' {
  type Settings = Readonly<Record<string, unknown>>

  /** `parameter` can name an existing table, `existing`, to be used instead of the stack's. */
  interface Table {
    id: string
    parameter: string
    ownName: string
    existing?: string
  }

  export function tablesOf(resources: Resources['Resources'], settings: Settings): Table[]
  export function nameExistingTables(service: {
    provider: { environment: Record<string, unknown> }
    resources: Resources
    custom: { settings: Settings }
  }): void
  export function useExistingTables(template: Resources, settings: Settings): void
}

declare module '*/own-settings.cjs' {
  export function readOwnSettings(stage: string): Record<string, unknown>
}

declare module '*/settings.cjs' {
  /** One entry of infra/resources/settings.yml; a value that depends on the stage is there by the stage's name, too. */
  export interface Setting {
    /** Without one, the setting is optional. */
    default?: string
    prod?: string
    local?: string
    variable?: string
    kind?: string
    integer?: { min: number; max: number }
    isBoolean?: true
    /** In words, where `integer` and `isBoolean` do not say it. Markdown. */
    allowed?: string
    meaning: string
  }

  /** By name, in the order of docs/settings.md. */
  export const SETTINGS: Readonly<Record<string, Setting>>
  /** Those with defaults of their own. */
  export const STAGES: readonly ('prod' | 'local')[]
  export function parameters(): Record<'default' | 'prod' | 'local', Record<string, string>>
  export function environment(): Record<string, string>
}
