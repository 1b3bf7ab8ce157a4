import { join } from 'node:path'

// Each mutant has a run of its own, which loads everything anew.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../../.test/compile-cache-of-mutants')

/**
 * Options of Stryker for a run of the mutants of some files (docs/testing.md).
 * @param name of the run; its Vitest configuration is vitest-NAME.config.ts
 */
export function strykerOptions(name, mutate) {
  const directory = `.test/mutants/${name}`
  return {
    testRunner: 'vitest',
    // The first run shows which tests a mutant needs: there is no need to find them by imports as well.
    vitest: { configFile: `test/support/mutants/vitest-${name}.config.ts`, related: false },
    plugins: ['@stryker-mutator/vitest-runner'],
    mutate,
    coverageAnalysis: 'perTest',
    // A mutant in code that runs once, when its module is loaded, would need all tests anew.
    ignoreStatic: true,
    concurrency: 1,
    timeoutMS: 20_000,
    incremental: true,
    incrementalFile: `${directory}/incremental.json`,
    tempDirName: `${directory}/sandbox`,
    ignorePatterns: ['/dist', '/.local', '/docs/bench', '/docs/page', '/.serverless', '/.test'],
    disableTypeChecks: false,
    // Stryker would read it with an API that TypeScript 7 no longer has.
    tsconfigFile: 'none',
    reporters: ['progress-append-only', 'clear-text', 'json'],
    jsonReporter: { fileName: `${directory}/report.json` },
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  }
}
