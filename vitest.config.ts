import { defineConfig } from 'vitest/config'

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
          exclude: [AFTER_ALL_OTHERS],
          sequence: { groupOrder: 0 },
        },
      },
      // Looks at what all other suites asked of AWS.
      { extends: true, test: { name: 'policies', include: [AFTER_ALL_OTHERS], sequence: { groupOrder: 1 } } },
    ],
  },
})
