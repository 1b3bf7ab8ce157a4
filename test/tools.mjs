// usage: node test/tools.mjs [COMMAND…]
//
// Installs what only the checks and tests need (package.json beside this file), unless all of its lock is there; then runs
// the command with these tools. So an npm ci that is to serve or deploy does without these 370 MB.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const folder = import.meta.dirname
const lock = join(folder, 'package-lock.json')
/** The lock as it was installed: written last, and deleted by npm ci first. */
const installed = join(folder, 'node_modules/.installed.json')

const succeeds = (/** @type {string} */ command, /** @type {string[]} */ args, cwd = '.') =>
  spawnSync(command, args, { cwd, stdio: 'inherit', shell: process.platform === 'win32' }).status === 0

if (!existsSync(installed) || !readFileSync(installed).equals(readFileSync(lock))) {
  console.error('Installing what checks and tests need beyond npm ci, into test/node_modules …')
  // A warm cache is enough, unless it is older than the lock.
  if (!succeeds('npm', ['ci', '--prefer-offline'], folder) && !succeeds('npm', ['ci'], folder)) process.exit(1)
  copyFileSync(lock, installed)
}

// vitest.config.ts imports this file, and has no command for it.
if (process.argv[1] === import.meta.filename) {
  const [command, ...args] = process.argv.slice(2)
  process.env.PATH = [join(folder, 'node_modules/.bin'), process.env.PATH].join(delimiter)
  if (command !== undefined && !succeeds(command, args)) process.exit(1)
}
