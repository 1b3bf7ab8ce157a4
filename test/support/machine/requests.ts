import { type AnyResponse, expectDocumented } from '../api/openapi.ts'

/** A POST, unless it says otherwise. */
export async function request(baseUrl: string, path: string, init: RequestInit): Promise<AnyResponse> {
  const response = await fetch(`${baseUrl}${path}`, { method: 'POST', ...init })
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.json() }
}

/** @returns the answer, which is as docs/openapi.yaml describes it */
export async function promote(
  baseUrl: string,
  { token, containerId, fileId }: { token: string; containerId: string; fileId: string },
  headers: Record<string, string> = {},
): Promise<AnyResponse> {
  const response = await request(baseUrl, `/containers/${containerId}/files/${fileId}/promote`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  })
  expectDocumented(response)
  return response
}
