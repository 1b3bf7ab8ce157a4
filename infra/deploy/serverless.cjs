// The framework resolves ${file(…)} of JavaScript only, with the Node.js that runs it.
if (!process.features.typescript) {
  console.error(
    `Node.js ${process.version} reads no TypeScript: run npx serverless, which takes this project's Node.js`,
  )
  process.exit(1)
}
module.exports = { ...require('./variables.ts') }
