import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { printedBy } from '../support/machine/program.ts'
import { useDirectory } from '../support/use-directory.ts'

const START = join(import.meta.dirname, '../../infra/local/start.mjs')
/** A machine of its own, as far as networks go: for root as for others, where the system lets them. */
const UNSHARE = ['--map-root-user', '--net', '--kill-child', 'sh', '-ec']
const LOOPBACK_UP = 'ip link set lo up'
const canUnshare = spawnSync('unshare', [...UNSHARE, LOOPBACK_UP], { stdio: 'ignore' }).status === 0
if (!canUnshare) console.warn('NO IPV6 IS NOT TESTED HERE: unshare may not make namespaces.')
const place = useDirectory('no ipv6')

it.runIf(canUnshare)('npm start needs no IPv6, and minds no spaces in a path', { timeout: 240_000 }, async () => {
  const script = `${LOOPBACK_UP}
    echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
    cat /proc/net/if_inet6 > "$place/no-ipv6"
    exec "${process.execPath}" "${START}" --directory "$place/a home/data"`
  const child = spawn('unshare', [...UNSHARE, script], { env: { ...process.env, place: place() } })
  const isReady = Promise.withResolvers<void>()
  const printed = printedBy(child, (text) => text.includes('/promote\n') && isReady.resolve())
  await Promise.race([isReady.promise, once(child, 'close')])
  child.kill('SIGKILL')
  expect(printed()).toContain('/promote\n')
  expect(await readFile(join(place(), 'no-ipv6'), 'utf8'), 'there is no address of IPv6').toBe('')
  const demo = JSON.parse(await readFile(join(place(), 'a home/data/demo.json'), 'utf8'))
  expect(demo.base_url).toBe('http://127.0.0.1:3000/v1')
})
