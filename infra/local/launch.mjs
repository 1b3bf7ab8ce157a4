// Starts a program in TypeScript. This is plain JavaScript, so that an old Node.js, or a checkout without packages, gets
// one line and not a stack trace.
import { existsSync } from 'node:fs'
import module from 'node:module'

/** @param load imports the program @param exitCode when it cannot be loaded */
export async function launch(load, exitCode) {
  const end = (line) => {
    console.error(line)
    process.exit(exitCode)
  }
  if (!existsSync(new URL('../../node_modules', import.meta.url))) end('Its packages are missing: run npm ci first.')
  const found = `this is ${process.version}: npx and npm find the one that npm ci brought.`
  if (!process.features.typescript) end(`This needs Node.js 22.18 or newer, and ${found}`)
  // Without it, to read TypeScript and the SDK takes most of the time of a command.
  module.enableCompileCache?.()
  await load().catch((error) => {
    if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error
    end(`Its packages are missing: run npm ci first. (${error.message.split('\n')[0]})`)
  })
}
