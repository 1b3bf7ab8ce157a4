import { availableParallelism } from 'node:os'
import { basename, join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { RunningFiles } from './test/support/running-files.ts'
// Installs what the tests need beyond npm ci.
import './test/tools.mjs'

// For the tests' workers and for the hundreds of processes that they start: most of their work is to compile what they load.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '.test/compile-cache')

const EXPLORER = 'test/protocol/explorer/explorer.test.ts'
/** Of these, npm test runs a tenth, and npm run test:machine all. */
const LONG_WHEN_WHOLE = [EXPLORER, 'test/protocol/histories/*.test.ts', 'test/api/hostile-input.test.ts']
/** No less of it would show anything. */
const ONLY_WHOLE = 'test/unit/audit/audit-memory.test.ts'
/** No bundle, no framework process, no server but small ones of their own: these start at once. */
const FAST = [
  'test/pages/**/*.test.ts',
  'test/unit/**/*.test.ts',
  'test/api/**/*.test.ts',
  ...LONG_WHEN_WHOLE,
  // On the tables in memory; on the embedded DynamoDB among SLOW.
  'test/contract/{api-key-administration,document*,due-work,erasures,ledger*,links,rate-limiter}.test.ts',
]
/** On stand-ins; what is deployed, as packaged; and one start of the local service. */
const ONE_START = 'test/machine/start.test.ts'
const SLOW = [
  'test/contract/**/*.test.ts',
  'test/protocol/faults/**/*.test.ts',
  'test/template/**/*.test.ts',
  ONE_START,
]
/** A minute, of what few changes touch: npm run test:machine. */
const LONG = [
  'test/template/{release,own-settings}.test.ts',
  'test/protocol/explorer/planted-bugs.test.ts',
  'test/protocol/faults/{fault-matrix,failure-map,contention,bounded-work}.test.ts',
]
/** Of their faults, npm test has a quarter, and npm run test:machine all. */
const FILE_OPERATIONS = 'test/protocol/faults/file-operations.test.ts'
/** What needs Python: a mock account, and a linter of templates. npm run test:account, for changes of templates and policies. */
const ACCOUNT = ['test/machine/{mock-account,aws-workflow}.test.ts', 'test/template/cfn-lint.test.ts']
/** In one run with the machine tests, these are not run twice. */
const WHOLE_HERE = process.argv.includes('machine') ? [...LONG_WHEN_WHOLE, FILE_OPERATIONS] : []
const AFTER_ALL_OTHERS = 'test/template/policies.test.ts'
/** Longest first: begun late, they would go on alone. A fresh clone knows nothing but the sizes of files. */
const LONGEST = [
  'fault-matrix',
  'page',
  'smoke',
  'readme',
  'storms-kills',
  'turns-page',
  'planted-bugs',
  'file-operations',
  'random-histories',
  'clients-page',
  'storm-erasures',
  'hostile-input',
  'explorer',
  'failure-map',
  'bounded-work',
  'contention',
  'exact-promotions',
  'tests-that-hang',
  'tenants-page',
  'start',
  'replacements',
  'dev',
  'call-budget',
  'every-operation',
]

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const length = ({ moduleId }: TestSpecification) => LONGEST.toReversed().indexOf(basename(moduleId, '.test.ts'))
    // A worker is of one project. The small files come last, and keep all of them at work to the end.
    const isSmall = ({ project }: TestSpecification) => Number(project.name === 'fast')
    return (await super.sort(files)).toSorted(
      (one, other) => isSmall(one) - isSmall(other) || length(other) - length(one),
    )
  }
}

const inOneProcess = {
  sequence: { groupOrder: 0 },
  // Node.js loads the modules itself, and once for all files: the explorer runs at twice the speed, and most of the time
  // would go into imports. So no file may leave anything behind in a module (vi.mock, fake timers, spies).
  experimental: { viteModuleRunner: false },
  isolate: false,
  pool: 'threads' as const,
}

const onStandIns = {
  globalSetup: 'test/support/global-setup.ts',
  // Node.js loads the modules itself, compiled as other processes of the run left them.
  experimental: { viteModuleRunner: false },
}

export default defineConfig({
  test: {
    // One for each core: a third on two cores takes a seventh more processor time for the same tests. The command line's
    // --maxWorkers does not reach the projects.
    maxWorkers: Math.min(3, availableParallelism()),
    setupFiles: ['test/support/end-blocked-run.ts'],
    reporters: process.env.CI
      ? ['default', ['json', { outputFile: '.test/results.json' }], new RunningFiles('.test/running.txt')]
      : ['default'],
    // Never reached, however busy the machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    sequence: { sequencer: LongestFirst },
    // Of the tests of one file that say they may run side by side.
    maxConcurrency: 16,
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: FAST,
          exclude: [ONLY_WHOLE, ...WHOLE_HERE],
          provide: { depth: 'shallow' },
          ...inOneProcess,
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: SLOW,
          exclude: [AFTER_ALL_OTHERS, ...LONG, ...WHOLE_HERE, ...ACCOUNT],
          provide: { depth: 'shallow' },
          sequence: { groupOrder: 0 },
          ...onStandIns,
          // Most of their work would be to load the SDK and the policies' rules again for each file. These leave nothing
          // behind in a module, either.
          isolate: false,
        },
      },
      // Every scenario to its last bound, for minutes: npm run explore.
      { extends: true, test: { name: 'explore', include: [EXPLORER], provide: { depth: 'whole' }, ...inOneProcess } },
      // What starts services, browsers and accounts, and takes minutes: npm run test:machine.
      {
        extends: true,
        test: {
          name: 'machine',
          include: ['test/machine/**/*.test.ts', ...LONG, ...LONG_WHEN_WHOLE, ONLY_WHOLE, FILE_OPERATIONS],
          exclude: [ONE_START, ...ACCOUNT],
          provide: { depth: 'deep' },
          sequence: { groupOrder: 0 },
          ...onStandIns,
          // As above.
          isolate: false,
          setupFiles: ['test/support/machine/restore-environment.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'account',
          include: ACCOUNT,
          ...onStandIns,
          setupFiles: ['test/support/machine/restore-environment.ts'],
        },
      },
      // Looks at what all other suites asked of AWS.
      {
        extends: true,
        test: { name: 'policies', include: [AFTER_ALL_OTHERS], sequence: { groupOrder: 1 }, ...onStandIns },
      },
    ],
  },
})
