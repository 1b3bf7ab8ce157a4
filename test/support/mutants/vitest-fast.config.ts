import { defineConfig } from 'vitest/config'

/** Leaves out the explorer, the histories, the hostile input and other tests that take seconds each. */
export default defineConfig({
  test: {
    include: ['test/unit/**/*.test.ts', 'test/api/**/*.test.ts'],
    exclude: ['test/api/hostile-input.test.ts', 'test/unit/audit/audit-memory.test.ts'],
    experimental: { viteModuleRunner: false },
    isolate: false,
    pool: 'threads',
    maxWorkers: 1,
    testTimeout: 30_000,
  },
})
