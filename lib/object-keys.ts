import {
  type AttemptId,
  type ContainerId,
  type DocumentId,
  type FilePath,
  MAX_OBJECT_KEY_BYTES,
  refusePathLength,
  type WorkspaceId,
} from './ids.ts'

export interface ObjectKeyTemplates {
  sandbox: string
  document: string
}

/** The only place that makes object keys, from validated ids. */
export type ObjectKeys = ReturnType<typeof createObjectKeys>

const LONGEST_BASE58_OF_16_BYTES = 22
const PLACEHOLDER = /\{([a-z_]+)\}/g
/** In bytes; lib/ids.ts makes no longer ones. */
const LONGEST_IDS: Readonly<Record<string, number>> = {
  workspace_id: 128,
  document_id: 'file_'.length + LONGEST_BASE58_OF_16_BYTES,
  attempt_id: LONGEST_BASE58_OF_16_BYTES,
}
/** Lists a workspace's documents and their objects in the same order, and workspaces by their prefix. */
const IN_ORDER = /^[^{]*\{workspace_id\}[^{]*\/\{document_id\}\/\{attempt_id\}$/

/** A template up to and including the workspace's segment; captures the part before that segment. */
const UP_TO_WORKSPACE = /^((?:.*\/)?)[^/]*\{workspace_id\}[^/]*\//

type ContainerIds = { workspaceId: WorkspaceId; containerId: ContainerId }
type DocumentIds = { workspaceId: WorkspaceId; documentId: DocumentId; attemptId: AttemptId }

/** @param templates {@link problemsInTemplates} must have found no problem in them */
export function createObjectKeys(templates: ObjectKeyTemplates) {
  const fill = (template: string, values: Record<string, string>) =>
    // A function as replacement, so that "$&" in a path is not taken for a pattern.
    template.replace(PLACEHOLDER, (_, name: string) => values[name] ?? '')
  const containerPrefix = ({ workspaceId, containerId }: ContainerIds) =>
    fill(templates.sandbox, { workspace_id: workspaceId, container_id: containerId, path: '' })
  const [workspaceTemplate = '', workspacesPrefix = ''] = UP_TO_WORKSPACE.exec(templates.document) ?? []
  return {
    /** The beginning that all workspace prefixes share. */
    workspacesPrefix,
    /** The prefix of all keys of a workspace's documents. */
    workspacePrefix: (workspaceId: WorkspaceId) => fill(workspaceTemplate, { workspace_id: workspaceId }),
    /** @returns undefined when it is no workspace's prefix */
    workspaceIdOf: (prefix: string) => match(workspaceTemplate, prefix)?.workspace_id as WorkspaceId | undefined,
    /** @returns undefined when the key is not named like a document's */
    idsOf(key: string) {
      const ids = match(templates.document, key)
      return ids && { documentId: ids.document_id as DocumentId, attemptId: ids.attempt_id as AttemptId }
    },
    /** The prefix of all keys of a container, with the closing `/`. */
    containerPrefix,
    /** @throws ServiceError invalid_file_id when the key would be longer than S3 allows */
    sandboxFile({ path, ...ids }: ContainerIds & { path: FilePath }): string {
      const key = containerPrefix(ids) + path
      if (Buffer.byteLength(key) > MAX_OBJECT_KEY_BYTES) refusePathLength()
      return key
    },
    documentObject: ({ workspaceId, documentId, attemptId }: DocumentIds) =>
      fill(templates.document, { workspace_id: workspaceId, document_id: documentId, attempt_id: attemptId }),
  }
}

/** The order of S3 listings and of DynamoDB sort keys. */
export const compareBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))

/** A workspace's own keys by a template: the prefix to list, and which keys there, as a container may come before it. */
export function keysOfWorkspace(template: string, workspaceId: WorkspaceId) {
  const [upToOwn = ''] = /^.*\{workspace_id\}[^{]*/.exec(template) ?? []
  const own = upToOwn.replace('{workspace_id}', workspaceId)
  const pattern = new RegExp(`^${patternOf(own)}`)
  return { prefix: own.replace(/\{.*/, ''), owns: (key: string) => pattern.test(key) }
}

/** @returns undefined for a key that was not made by this template */
const match = (template: string, key: string) => new RegExp(`^${patternOf(template)}$`).exec(key)?.groups

const patternOf = (template: string) =>
  template.replace(/[.*()]/g, '\\$&').replace(PLACEHOLDER, '(?<$1>[A-Za-z0-9_-]+)')

/**
 * Faults that would let one workspace's keys reach another's, or one attempt overwrite another. Each id is a whole path
 * segment in a place of its own, so no two sets of ids ever give the same key.
 * @param sameBucket sandboxes and documents share a bucket, so their prefixes must not overlap
 * @yields a sentence for each problem
 */
export function* problemsInTemplates({ sandbox, document }: ObjectKeyTemplates, sameBucket: boolean) {
  yield* problemsInTemplate('sandbox', sandbox, ['workspace_id', 'container_id', 'path'])
  yield* problemsInTemplate('document', document, ['workspace_id', 'document_id', 'attempt_id'])
  if (!IN_ORDER.test(document))
    yield 'the document template must name workspace, document and attempt in this order, the last two as whole segments at its end'
  const longest = document.replace(PLACEHOLDER, (_, name) => 'x'.repeat(LONGEST_IDS[name] ?? 0)).length
  if (longest > MAX_OBJECT_KEY_BYTES)
    yield `the document template makes keys of up to ${longest} bytes, and S3 allows ${MAX_OBJECT_KEY_BYTES}`
  if (!sandbox.endsWith('/{path}')) yield 'the sandbox template must end in /{path}'
  if (sameBucket && !areDisjoint({ sandbox, document }))
    yield 'in one bucket, the sandbox and the document template must differ in a fixed segment at the same place'
}

function* problemsInTemplate(name: string, template: string, placeholders: string[]) {
  const found = [...template.matchAll(PLACEHOLDER)].map((match) => match[1] ?? '')
  for (const placeholder of placeholders) {
    const isOnce = found.filter((each) => each === placeholder).length === 1
    if (!isOnce) yield `the ${name} template must contain {${placeholder}} exactly once`
  }
  for (const unknown of found.filter((each) => !placeholders.includes(each)))
    yield `the ${name} template contains {${unknown}}, which means nothing there`
  for (const segment of template.split('/')) {
    if (['', '.', '..'].includes(segment)) yield `the ${name} template has an empty, "." or ".." segment`
    if ([...segment.matchAll(PLACEHOLDER)].length > 1)
      yield `the ${name} template has two placeholders in one segment, "${segment}"`
    if (/[{}]/.test(segment.replace(PLACEHOLDER, ''))) yield `the ${name} template has a stray brace`
  }
  if (!/^[A-Za-z0-9!_.*'()/{}-]*$/.test(template))
    yield `the ${name} template has characters that S3 does not call safe in a key`
}

/**
 * Whether no sandbox key can ever equal a document key: somewhere before the file path, both have different fixed
 * segments in the same place. (Each id fills exactly one segment, so places do not shift.)
 */
function areDisjoint({ sandbox, document }: ObjectKeyTemplates): boolean {
  const documentSegments = document.split('/')
  const sandboxSegments = sandbox.split('/').slice(0, -1)
  const isFixed = (segment = '{') => !segment.includes('{')
  return sandboxSegments.some((segment, place) => {
    const other = documentSegments[place]
    return isFixed(segment) && isFixed(other) && segment !== other
  })
}
