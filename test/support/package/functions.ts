/** The functions behind the gateway: their files in functions/, and the names that their clients put into the user agent. */
export const API_FUNCTION_NAMES = [
  'promote-container-file',
  'read-documents',
  'delete-document',
  'read-container-files',
] as const
/** All functions. test/infra/package.test.ts compares them with those that are packaged. */
export const FUNCTION_NAMES = [...API_FUNCTION_NAMES, 'resolve-reservations', 'audit-workspaces'] as const

export type FunctionName = (typeof FUNCTION_NAMES)[number]

/** As in serverless.yml: `readDocuments`. */
export const serverlessNameOf = (name: string) => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())

/** As its resources in the template begin: `ReadDocuments`. */
export const logicalIdOf = (name: string) => serverlessNameOf(`-${name}`)
