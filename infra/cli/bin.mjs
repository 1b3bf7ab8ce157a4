#!/usr/bin/env node
// Plain JavaScript, so that a Node.js that cannot read TypeScript gets one line that says what is needed.
if (!process.features.typescript) {
  console.error(
    `This needs Node.js 22.18 or newer, and this is ${process.version}: npx finds the one that npm ci brought.`,
  )
  process.exit(2)
}
await import('./main.ts')
