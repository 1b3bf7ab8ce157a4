// usage: node test/check.mjs SCRIPT…
//
// Runs scripts of package.json one after the other, also after one that fails: one run shows all that is wrong.
import { spawnSync } from 'node:child_process'

const shell = process.platform === 'win32'
for (const script of process.argv.slice(2)) {
  const { status } = spawnSync('npm', ['run', '--silent', script], { stdio: 'inherit', shell })
  if (status !== 0) console.error(`npm run ${script} failed.`)
  if (status !== 0) process.exitCode = 1
}
