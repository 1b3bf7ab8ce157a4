import { createHash, randomUUID } from 'node:crypto'
import * as fs from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Bytes that never change, in memory or in a file of this name: copies name the same ones. */
export type Piece = { of: Buffer | string; from: number; to: number }

export interface StoredObject {
  pieces: Piece[]
  /** Includes its quotes. */
  etag: string
  /** Its description: type, encoding, storage class. */
  headers: Record<string, string>
  /** In base64: of an object whose writer sent it, or whose copier wanted it. */
  sha256?: string | undefined
  versionId?: string | undefined
  modifiedAtMs: number
}

export const versionKey = (key: string, versionId: string) => `${versionId} ${key}`

export type Bytes = Pick<StoredObject, 'pieces' | 'etag'>

/** A received one, unlike a copy, is nobody else's. */
type Part = Bytes & { isReceived?: true }
type Headers = Record<string, string>
export type Upload = { bucket: string; key: string; headers: Headers; startedAtMs: number; parts: Map<number, Part> }

type Buckets = Map<string, Map<string, StoredObject>>
/** Everything that is kept, replaced and never changed; versions of the objects of versioned buckets by key and id. */
export type S3Contents = { buckets: Buckets; versions: Buckets; uploads: Map<string, Upload> }

/** Keeps contents after their process has ended, but not unfinished uploads. */
export type S3Disk = ReturnType<typeof openContents>['disk']

export const sizeOf = (pieces: readonly Piece[]) => pieces.reduce((sum, { from, to }) => sum + to - from, 0)

/** @param end the first byte that no longer belongs to it */
export function slice(pieces: readonly Piece[], start: number, end: number): Piece[] {
  let passed = 0
  return pieces.flatMap(({ of, from, to }) => {
    const piece = { of, from: from + Math.max(0, start - passed), to: Math.min(to, from + end - passed) }
    passed += to - from
    return piece.from < piece.to ? [piece] : []
  })
}

/** Reads pieces in files, some of them at a time: copies of any size may be asked for. */
export function sha256Of(pieces: readonly Piece[], folder = ''): string {
  const hash = createHash('sha256')
  for (const { of, from, to } of pieces) {
    if (typeof of !== 'string') {
      hash.update(of.subarray(from, to))
      continue
    }
    const file = fs.openSync(join(folder, of), 'r')
    const held = Buffer.alloc(Math.min(to - from, 1024 * 1024))
    // Nobody shortens a file: a read brings at least a byte.
    for (let at = from, read = 0; at < to; at += read) {
      read = fs.readSync(file, held, 0, Math.min(held.length, to - at), at)
      hash.update(held.subarray(0, read))
    }
    fs.closeSync(file)
  }
  return hash.digest('base64')
}

export const etagOf = (content: Buffer | string) => `"${createHash('md5').update(content).digest('hex')}"`

/**
 * Contents in a directory: one file for the bytes of each request, and a journal of what they belong to, a line for each
 * change. A line that a full disk or a killed process left half written belongs to a request that nobody saw succeed.
 */
export function openContents(directory: string) {
  const journal = join(directory, 'journal')
  const folder = join(directory, 'bytes')
  fs.mkdirSync(folder, { recursive: true })
  const contents: S3Contents = { buckets: new Map(), versions: new Map(), uploads: new Map() }
  for (const line of fs.existsSync(journal) ? fs.readFileSync(journal, 'utf8').split('\n') : []) {
    const [bucket, key = '', object, isVersioned] = parsed(line)
    if (bucket === undefined) continue
    if (isVersioned) contents.versions.set(bucket, new Map())
    if (object?.versionId) contents.versions.get(bucket)?.set(versionKey(key, object.versionId), object)
    const objects = contents.buckets.get(bucket) ?? new Map<string, StoredObject>()
    contents.buckets.set(bucket, objects)
    if (object) objects.set(key, object)
    else objects.delete(key)
  }
  // Bytes that nothing names any more are removed here and not earlier, as somebody may have been reading them.
  const kept = [...contents.buckets.values(), ...contents.versions.values()]
  const objects = kept.flatMap((bucket) => [...bucket.values()])
  const named = new Set(objects.flatMap(({ pieces }) => pieces.map(({ of }) => of)))
  for (const file of fs.readdirSync(folder)) if (!named.has(file)) fs.rmSync(join(folder, file))

  const disk = {
    sha256Of: (pieces: readonly Piece[]) => sha256Of(pieces, folder),
    /** Writes bytes to a new file as they arrive. If they break off, or the disk is full, nothing stays of them. */
    async receive(arriving: AsyncIterable<Buffer>): Promise<Bytes> {
      const piece = { of: randomUUID(), from: 0, to: 0 }
      const hash = createHash('md5')
      async function* counted() {
        for await (const chunk of arriving) {
          hash.update(chunk)
          piece.to += chunk.length
          yield chunk
        }
      }
      try {
        await writeFile(join(folder, piece.of), counted())
      } catch (error) {
        disk.discard([piece])
        throw error
      }
      return { pieces: [piece], etag: `"${hash.digest('hex')}"` }
    },
    discard(pieces: readonly Piece[]): void {
      for (const { of } of pieces) fs.rmSync(join(folder, String(of)), { force: true })
    },
    /** Records a new bucket or that it is versioned, a new object, or (without an object) a deletion. */
    record: (...change: Change) => fs.appendFileSync(journal, `\n${JSON.stringify(change)}`),
  }
  return { contents, disk }
}

type Change = [bucket: string, key?: string, object?: StoredObject | null, isVersioned?: true]

function parsed(line: string): Change | [] {
  try {
    return JSON.parse(line)
  } catch {
    return []
  }
}
