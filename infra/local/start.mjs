// Run by npm start. Plain JavaScript, so that a Node.js that is too old, or a checkout without its packages, is told in
// one line and not by a stack.

/** Node.js 20 goes on working, since the scripts run on the Node.js of node_modules/node; promised is 22. */
const OLDEST = 20

/** Of npm, which the user has; of this process, which node_modules/node may have brought. */
const versions = [/node\/v(\d+)/.exec(process.env.npm_config_user_agent ?? '')?.[1], process.versions.node]
const oldest = Math.min(...versions.filter((text) => text !== undefined).map(Number.parseFloat))

if (oldest < OLDEST)
  end(`This needs Node.js 22 or newer, and this is Node.js ${Math.floor(oldest)}: https://nodejs.org`)
if (!process.features.typescript) {
  end('Node.js 22.18 or newer must be in node_modules: run npm ci, with install scripts allowed.')
}
try {
  await import('./start.ts')
} catch (error) {
  if (error?.code !== 'ERR_MODULE_NOT_FOUND') throw error
  end(`Its packages are missing: run npm ci first. (${error.message.split('\n')[0]})`)
}

/** @param {string} line why nothing is started */
function end(line) {
  console.error(line)
  process.exit(1)
}
