import { documentFrom, hasObject, namesOf, type Population, sizeOf, workspaceIdOf, workspaceOf } from './population.ts'

export interface S3Request {
  method: string
  /** Decoded, without the bucket. */
  key: string
  query: Readonly<Record<string, string | undefined>>
}

export interface S3Answer {
  statusCode: number
  xml: string
}

interface Place {
  workspace: number
  document: number
}

const ROOT = 'documents/'
/** Amazon S3 API reference, ListObjectsV2: "up to 1,000". */
const PAGE_KEYS = 1000
const UPLOAD_INITIATED = '2026-10-01T12:00:00.000Z'

/** A bucket with more objects than anybody could hold: each is computed from its number. Deletions change nothing. */
export function createFormulaS3(population: Population): { answer(request: S3Request): S3Answer } {
  return {
    answer({ method, key, query }) {
      if (method === 'GET' && query.uploads !== undefined) return { statusCode: 200, xml: listUploads(query) }
      if (method === 'GET' && query['list-type'] === '2') return { statusCode: 200, xml: listObjects(query) }
      if (method === 'HEAD') return { statusCode: isThere(key) ? 200 : 404, xml: '' }
      if (method === 'DELETE') return { statusCode: 204, xml: '' }
      throw new Error(`the formula has no ${method} of ${key}`)
    },
  }

  function isThere(key: string): boolean {
    const { workspace, document } = placeOf(key)
    return workspace < population.workspaces && objectAt({ workspace, document }) === key
  }

  function objectAt({ workspace, document }: Place): string | undefined {
    if (document >= population.documentsIn(workspace) || !hasObject(workspace, document, population)) return undefined
    return namesOf(workspace, document).objectKey
  }

  function listObjects(query: S3Request['query']): string {
    const { prefix = '', delimiter } = query
    const after = query['continuation-token'] ?? query['start-after'] ?? ''
    const most = Math.min(PAGE_KEYS, Number(query['max-keys'] ?? PAGE_KEYS))
    const isOfPrefixes = delimiter === '/' && prefix === ROOT
    const found = isOfPrefixes ? prefixesFrom(after) : objectsFrom(after > prefix ? after : prefix, prefix)
    const elements: string[] = []
    let last = ''
    let isTruncated = false
    for (const { name, xml } of found) {
      if (name <= after) continue
      if (elements.length === most) {
        isTruncated = true
        break
      }
      elements.push(xml)
      last = name
    }
    const next = isTruncated ? `<NextContinuationToken>${last}</NextContinuationToken>` : ''
    return (
      `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">` +
      `<Name>documents</Name><Prefix>${prefix}</Prefix><KeyCount>${elements.length}</KeyCount><MaxKeys>${most}</MaxKeys>` +
      `<IsTruncated>${isTruncated}</IsTruncated>${next}${elements.join('')}</ListBucketResult>`
    )
  }

  function* prefixesFrom(after: string): Generator<{ name: string; xml: string }> {
    const { workspaces } = population
    for (let { workspace } = placeOf(after); workspace < workspaces; workspace++) {
      if (population.documentsIn(workspace) === 0) continue
      const name = `${ROOT}${workspaceIdOf(workspace)}/`
      yield { name, xml: `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>` }
    }
  }

  function* objectsFrom(start: string, prefix: string): Generator<{ name: string; xml: string }> {
    const first = placeOf(start)
    for (let { workspace } = first; workspace < population.workspaces; workspace++) {
      const documents = population.documentsIn(workspace)
      for (let document = workspace === first.workspace ? first.document : 0; document < documents; document++) {
        const name = objectAt({ workspace, document })
        if (name === undefined || name < start) continue
        if (!name.startsWith(prefix)) return
        yield { name, xml: objectXml(name, workspace, document) }
      }
      if (prefix.length > ROOT.length) return
    }
  }

  function objectXml(name: string, workspace: number, document: number): string {
    const plant = population.plants.get(workspace)
    const isWrong = plant?.kind === 'wrong_size' && plant.document === document
    return (
      `<Contents><Key>${name}</Key><LastModified>2026-10-01T12:00:00.000Z</LastModified>` +
      `<ETag>&quot;9b2cf535f27731c974343645a3985328&quot;</ETag><Size>${sizeOf(workspace, document) + (isWrong ? 1 : 0)}</Size>` +
      `<StorageClass>STANDARD</StorageClass></Contents>`
    )
  }

  /** There are few: the planted ones. */
  function listUploads(query: S3Request['query']): string {
    const { prefix = '' } = query
    const marker = query['key-marker'] ?? ''
    const keys = [...population.plants]
      .flatMap(([workspace, plant]) =>
        plant.kind === 'old_upload' ? `${namesOf(workspace, plant.document).objectKey}u` : [],
      )
      .filter((key) => key.startsWith(prefix) && key > marker)
      .sort()
    const uploads = keys
      .slice(0, PAGE_KEYS)
      .map(
        (key) =>
          `<Upload><Key>${key}</Key><UploadId>upload-of-${key.length}</UploadId><Initiated>${UPLOAD_INITIATED}</Initiated>` +
          `<StorageClass>STANDARD</StorageClass></Upload>`,
      )
    const isTruncated = keys.length > PAGE_KEYS
    const next = isTruncated
      ? `<NextKeyMarker>${keys[PAGE_KEYS - 1]}</NextKeyMarker><NextUploadIdMarker>upload</NextUploadIdMarker>`
      : ''
    return (
      `<?xml version="1.0" encoding="UTF-8"?>\n<ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">` +
      `<Bucket>documents</Bucket><Prefix>${prefix}</Prefix><MaxUploads>${PAGE_KEYS}</MaxUploads>` +
      `<IsTruncated>${isTruncated}</IsTruncated>${next}${uploads.join('')}</ListMultipartUploadsResult>`
    )
  }

  /** The first workspace, and the first document of it, whose key may be this one or come behind it. */
  function placeOf(key: string): Place {
    if (key <= ROOT || key < `${ROOT}${workspaceIdOf(0)}`) return { workspace: 0, document: 0 }
    const [, id = '', rest = ''] = /^documents\/([^/]*)(.*)$/s.exec(key) ?? []
    const workspace = workspaceOf(id, population)
    if (workspace === undefined) return { workspace: population.workspaces, document: 0 }
    const [documentId = ''] = rest.slice(1).split('/')
    const document = documentFrom(documentId, workspace)
    return Number.isFinite(document) ? { workspace, document } : { workspace: workspace + 1, document: 0 }
  }
}
