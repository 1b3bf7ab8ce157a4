import { defineConfig } from 'vitest/config'

/**
 * What stryker.config.json runs against each mutant of lib/: what is fast, and the contracts on stand-ins, which are all that
 * shows what lib/aws asks of its stores. Without the model, the histories and the hostile input: minutes for each.
 */
export default defineConfig({
  test: {
    include: ['test/unit/**/*.test.ts', 'test/http/**/*.test.ts', 'test/contract/**/*.test.ts'],
    exclude: ['test/http/hostile-*.test.ts', 'test/unit/limited-dynamodb.test.ts', 'test/unit/audit.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    experimental: { viteModuleRunner: false },
    isolate: false,
    pool: 'threads',
    maxWorkers: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
