/**
 * `npm run mutants`: changes lib/ in thousands of small ways, one at a time, and sees whether a fast test fails (docs/testing.md).
 * `npm run mutants:stores`: lib/aws, which only the contracts on stand-ins show.
 */
const isOnStores = process.env.MUTANTS_ON === 'stores'
const directory = `.test/mutants/${isOnStores ? 'stores' : 'fast'}`

// biome-ignore lint/style/noDefaultExport: Stryker asks for it
export default {
  testRunner: 'vitest',
  // Which tests a mutant needs is known from the first run: no need to find them by imports as well.
  vitest: { configFile: 'vitest.mutants.config.ts', related: false },
  plugins: ['@stryker-mutator/vitest-runner'],
  mutate: isOnStores ? ['lib/aws/**/*.ts'] : ['lib/{auth,http,maintenance,promotion}/**/*.ts'],
  coverageAnalysis: 'perTest',
  // What a module computes once, when it is loaded, would take all tests anew for each mutant.
  ignoreStatic: true,
  concurrency: 1,
  timeoutMS: 20_000,
  incremental: true,
  incrementalFile: `${directory}/incremental.json`,
  tempDirName: `${directory}/sandbox`,
  ignorePatterns: ['/dist', '/.local', '/docs/bench', '/docs/page', '/.serverless', '/.test'],
  disableTypeChecks: false,
  // Stryker would read it by the API that TypeScript 7 no longer has.
  tsconfigFile: 'none',
  reporters: ['progress-append-only', 'clear-text', 'json'],
  jsonReporter: { fileName: `${directory}/report.json` },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
}
