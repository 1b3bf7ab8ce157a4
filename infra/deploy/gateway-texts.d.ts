// Of the plugin's JavaScript, for who imports it from TypeScript.
declare module '*gateway-texts.mjs' {
  export function nameOperations(text: string, routes: readonly { method: string; resource: string }[]): string
  export const WRONG_METHOD_BODY: string
}
