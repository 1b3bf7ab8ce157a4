import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export const LOOPBACK = '127.0.0.1'

/** Listens on loopback only. @returns the port, chosen by the system when asked for 0 */
export async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, LOOPBACK, () => resolve())
  })
  return (server.address() as AddressInfo).port
}

/** Stops listening and cuts the connections that are still open. */
export async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()))
    server.closeAllConnections()
  })
}
