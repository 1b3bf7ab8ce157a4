// Starts a program in TypeScript. This is plain JavaScript, so that an old Node.js, or a checkout without packages, gets
// one line and not a stack trace.
import { existsSync } from 'node:fs'
import module from 'node:module'

/** Node.js 20 still works, since the scripts run on the Node.js in node_modules; 22 is promised. */
const OLDEST = 20
/** Of npm's Node.js, which the user installed, and of this process, which may come from node_modules. */
const versions = [/node\/v(\d+)/.exec(process.env.npm_config_user_agent ?? '')?.[1] ?? OLDEST, process.versions.node]
const oldest = Math.min(...versions.map(Number.parseFloat))

/**
 * @param {() => Promise<unknown>} load imports the program
 * @param {number} exitCode when it cannot be loaded
 */
export async function launch(load, exitCode) {
  /** @param {string} line why it cannot start */
  const end = (line) => {
    console.error(line)
    process.exit(exitCode)
  }
  if (oldest < OLDEST) end(`This needs Node.js 22 or newer, and this is Node.js ${oldest}: https://nodejs.org`)
  if (!existsSync(new URL('../../node_modules', import.meta.url))) end('Its packages are missing: run npm ci first.')
  if (!process.features.typescript) {
    end(
      `This needs Node.js 22.18 or newer, and this is ${process.version}: npx and npm find the one that npm ci brought.`,
    )
  }
  // Without it, to read TypeScript and the SDK takes most of the time of a command.
  module.enableCompileCache?.()
  await load().catch((error) => {
    if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error
    end(`Its packages are missing: run npm ci first. (${error.message.split('\n')[0]})`)
  })
}
