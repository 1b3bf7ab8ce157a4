import { defineConfig } from 'vitest/config'

/** What Stryker runs (stryker.config.mjs): without the model, the histories and the hostile input, which take seconds each. */
const isOnStores = process.env.MUTANTS_ON === 'stores'

export default defineConfig({
  test: {
    include: isOnStores
      ? ['test/contract/**/*.test.ts', 'test/unit/**/*.test.ts', 'test/model/conditions.test.ts']
      : ['test/unit/**/*.test.ts', 'test/http/**/*.test.ts'],
    exclude: ['test/http/hostile-*.test.ts', 'test/contract/{fakes,limited-dynamodb}.test.ts'],
    ...(isOnStores && { globalSetup: 'test/support/global-setup.ts' }),
    experimental: { viteModuleRunner: false },
    isolate: false,
    pool: 'threads',
    maxWorkers: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
