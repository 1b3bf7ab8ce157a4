import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { printedBy } from '../support/machine/program.ts'
import { useDirectory } from '../support/use-directory.ts'

vi.setConfig({ testTimeout: 240_000 })

const ROOT = join(import.meta.dirname, '../..')
const START = `exec "${process.execPath}" "${join(ROOT, 'infra/local/start.mjs')}"`
/** A machine of its own, as far as disks and networks go: for root as for others, where the system lets them. */
const UNSHARE = ['--map-root-user', '--mount', '--net', 'sh', '-ec']
const LOOPBACK_UP = 'ip link set lo up'

const TRIAL = [...UNSHARE, `${LOOPBACK_UP} && mount -t tmpfs tmpfs "${tmpdir()}"`]
const canBeTroubled = spawnSync('unshare', TRIAL, { stdio: 'ignore' }).status === 0
if (!canBeTroubled) {
  console.warn('FULL DISK AND NO IPV6 ARE NOT TESTED HERE: unshare may not make namespaces.')
}

describe.runIf(canBeTroubled)('npm start in trouble', () => {
  const place = useDirectory('in trouble')
  let children: ChildProcess[] = []
  beforeAll(() => mkdir(join(place(), 'disk')))
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
  })

  /** @param script for sh, as root of its own small machine; $place is a directory whose name has spaces */
  function run(script: string) {
    const env = { ...process.env, place: place() }
    const child = spawn('unshare', ['--kill-child', ...UNSHARE, `${LOOPBACK_UP}\n${script}`], { env, cwd: tmpdir() })
    children = [...children, child]
    const printed = printedBy(child)
    const ended = once(child, 'close')
    const printsLine = (line: RegExp) =>
      vi.waitFor(() => expect(printed()).toMatch(line), { timeout: 200_000, interval: 200 })
    return { child, ended, printsLine, printed }
  }
  const disk = (size: string) => `mount -t tmpfs -o size=${size} tmpfs "$place/disk"`

  it('says so when the disk fills up later, and keeps what it had', async () => {
    const promote = `"${process.execPath}" -e '
      const d = JSON.parse(require("fs").readFileSync(process.env.place + "/disk/data/demo.json"))
      const url = d.base_url + "/containers/" + d.container_id + "/files/" + d.files[0].file_id + "/promote"
      fetch(url, { method: "POST", headers: { authorization: "Bearer " + d.standard_key } })
        .then((r) => console.log("answered", r.status), () => console.log("answered nothing"))'`
    const { ended, printsLine, printed, child } = run(`${disk('400m')}
      ( ${START} --directory "$place/disk/data" ) & service=$!
      read -r _
      # What LevelDB frees meanwhile is filled, too.
      for time in 1 2 3; do
        dd if=/dev/zero of="$place/disk/fill-$time" bs=64k >/dev/null 2>&1 || :
        ${promote}
      done
      wait $service || :
      rm "$place/disk/fill-"*
      ( ${START} --directory "$place/disk/data" ) & service=$!
      read -r _
      ${promote}
      kill -INT $service`)
    await printsLine(/\/promote\n/)
    child.stdin?.write('\n')
    await printsLine(/answered (5\d\d|nothing)/)
    await printsLine(/no space left on device/i)
    await printsLine(/no space left on device[\s\S]*\/promote\n/i)
    child.stdin?.write('\n')
    await printsLine(/answered 200/)
    await ended
    expect(printed()).not.toMatch(/^ {4}at /m)
  })

  it('needs no IPv6, and minds no spaces in a path', async () => {
    await writeFile(join(place(), 'no-ipv6'), '')
    const { printsLine } = run(`
      echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6
      cat /proc/net/if_inet6 > "$place/no-ipv6"
      ${START} --directory "$place/a home/data"`)
    await printsLine(/\/promote\n/)
    expect(await readFile(join(place(), 'no-ipv6'), 'utf8'), 'there is no address of IPv6').toBe('')
    const demo = JSON.parse(await readFile(join(place(), 'a home/data/demo.json'), 'utf8'))
    expect(demo.base_url).toBe('http://127.0.0.1:3000/v1')
  })
})
