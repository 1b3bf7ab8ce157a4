import { beforeAll, expect } from 'vitest'
import { formatFileId } from '../../../lib/ids.ts'
import { expectDocumented } from '../api/openapi.ts'
import type { RawAnswer } from '../api/raw-http.ts'
import { useService } from './services.ts'

export const CRLF = '\r\n'

/** The gateway of a service of the file's own, and a file that raw requests can promote. */
export function useRawGateway() {
  const promotePath = `/v1/containers/sess_raw/files/${formatFileId('a.txt')}/promote`
  const service = useService()
  let key: string
  beforeAll(async () => {
    const workspaceId = service().newWorkspaceId()
    key = await service().newKey(workspaceId)
    await service().putFile(workspaceId, 'sess_raw', 'a.txt', Buffer.from('a'))
  })

  return {
    port: () => Number(new URL(service().demo.base_url).port),
    key: () => key,
    promotePath,
    /** The bytes of a request without a body. @param lines more of its header */
    promotion: (...lines: string[]) =>
      [`POST ${promotePath} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${key}`, ...lines, '', ''].join(CRLF),
  }
}

/** Expects status and code to agree, and errors to have the body; 429 when the fuzz is faster than the key may be. */
export function expectSound({ status, headers, body }: RawAnswer, isHead = false): void {
  expect([200, 400, 401, 403, 404, 413, 429]).toContain(status)
  expect(headers['content-type']).toBe('application/json')
  if (isHead) return
  expectDocumented({ status, headers, body: JSON.parse(body) })
  if (status !== 200) expect(JSON.parse(body).error.code).toBe(status)
}
