import { defineConfig } from 'vitest/config'

/** The adapters on stand-ins, and by themselves. */
export default defineConfig({
  test: {
    include: ['test/contract/**/*.test.ts', 'test/unit/**/*.test.ts'],
    exclude: ['test/unit/audit/audit-memory.test.ts'],
    globalSetup: 'test/support/mutants/provide-definition.ts',
    experimental: { viteModuleRunner: false },
    isolate: false,
    pool: 'threads',
    maxWorkers: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
