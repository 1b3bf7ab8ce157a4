// usage: node test/check.mjs SCRIPT…
//
// Runs scripts of package.json side by side, and all of them, also when one fails: one run shows all that is wrong.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
// Otherwise, each would install them.
import './tools.mjs'

const shell = process.platform === 'win32'

/** @param {string} script what it prints comes in one piece */
async function run(script) {
  const child = spawn('npm', ['run', '--silent', script], { shell, stdio: ['inherit', 'pipe', 'pipe'] })
  const printed = /** @type {Buffer[]} */ ([])
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => printed.push(chunk))
  const [code] = await once(child, 'close')
  process.stderr.write(Buffer.concat(printed))
  if (code === 0) return
  console.error(`npm run ${script} failed.`)
  process.exitCode = 1
}

await Promise.all(process.argv.slice(2).map(run))
