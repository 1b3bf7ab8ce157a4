import { join } from 'node:path'

// Each mutant is a run of its own, which loads everything anew.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../../.test/compile-cache-of-mutants')

/**
 * Options of Stryker for a run of the mutants of some files (docs/testing.md).
 * @param name of the run; its Vitest configuration is vitest-NAME.config.ts
 */
export function strykerOptions(name, mutate) {
  const directory = `.test/mutants/${name}`
  return {
    testRunner: 'vitest',
    // Which tests a mutant needs is known from the first run: no need to find them by imports as well.
    vitest: { configFile: `test/support/mutants/vitest-${name}.config.ts`, related: false },
    plugins: ['@stryker-mutator/vitest-runner'],
    mutate,
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
}
