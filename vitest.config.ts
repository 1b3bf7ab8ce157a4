import { defineConfig } from 'vitest/config'

/** Hundreds of requests at once: on a machine that does something else, some are answered with 503. */
const ALONE = 'test/e2e/storms.test.ts'
const AFTER_ALL_OTHERS = 'test/policies/**/*.test.ts'

export default defineConfig({
  test: {
    globalSetup: 'test/support/global-setup.ts',
    // Two cores: the suites that start stand-ins keep both busy.
    maxWorkers: 2,
    reporters: process.env.CI ? ['default', ['json', { outputFile: '.test/results.json' }]] : ['default'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'suites',
          include: ['test/**/*.test.ts'],
          exclude: [ALONE, AFTER_ALL_OTHERS],
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'storms', include: [ALONE], sequence: { groupOrder: 1 } } },
      // Looks at what all other suites asked of AWS.
      { extends: true, test: { name: 'policies', include: [AFTER_ALL_OTHERS], sequence: { groupOrder: 2 } } },
    ],
  },
})
