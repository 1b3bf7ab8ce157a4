#!/usr/bin/env node
// This is plain JavaScript, so that a Node.js that cannot read TypeScript prints one line that says what is needed.
if (!process.features.typescript) {
  console.error(
    `This needs Node.js 22.18 or newer, and this is ${process.version}: npx finds the one that npm ci brought.`,
  )
  process.exit(2)
}
await import('./main.ts')
