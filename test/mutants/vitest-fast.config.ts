import { defineConfig } from 'vitest/config'

/** Without the model, the histories, the hostile input and others that take seconds each. */
export default defineConfig({
  test: {
    include: ['test/unit/**/*.test.ts', 'test/http/**/*.test.ts'],
    exclude: ['test/http/hostile-*.test.ts', 'test/unit/audit-{memory,round-killed}.test.ts'],
    experimental: { viteModuleRunner: false },
    isolate: false,
    pool: 'threads',
    maxWorkers: 1,
    testTimeout: 30_000,
  },
})
