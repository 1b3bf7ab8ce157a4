// Types of the plugin's JavaScript, for whoever imports it from TypeScript.
declare module '*cors-texts.mjs' {
  export function preflightHeaders(methods: readonly string[]): Record<string, string>
  export const OWN_ANSWER_HEADERS: Readonly<Record<string, string>>
  export function readOrigins(text: string): string[]
}

declare module '*gateway-texts.mjs' {
  export function nameOperations(text: string, routes: readonly { method: string; resource: string }[]): string
  export const WRONG_METHOD_BODY: string
}
