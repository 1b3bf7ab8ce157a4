import { readFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import type { Metafile } from 'esbuild'
import { zipSync } from 'fflate'

/** Just above each zip's size, so that growth is noticed. The promotion's zip includes a library of file types. */
const ZIP_BUDGETS_BYTES: Readonly<Record<string, number>> = {
  'functions/promote-container-file.ts': 158_500,
  'functions/publish-events.ts': 64_000,
}
const ZIP_BUDGET_BYTES = 124_500

export function zipBudgetBytes(entryPoint: string): number {
  return ZIP_BUDGETS_BYTES[entryPoint] ?? ZIP_BUDGET_BYTES
}

interface BuiltFunctions {
  root: string
  /** Entry below root, such as functions/promote-container-file.ts. */
  entryPoint: string
  metafile: Metafile
}

/** The files a function needs: its entry and every chunk that can be reached from it. With `static`: at load. */
export function filesOf({ entryPoint, metafile: { outputs } }: BuiltFunctions, reach: 'all' | 'static'): string[] {
  const entry = Object.keys(outputs).find((file) => outputs[file]?.entryPoint === entryPoint)
  if (entry === undefined) throw new Error(`${entryPoint} was not built`)
  const files = new Set([entry])
  for (const file of files) {
    for (const { path, kind, external } of outputs[file]?.imports ?? []) {
      if (!external && (reach === 'all' || kind === 'import-statement')) files.add(path)
    }
  }
  return [...files]
}

/** Size of a function as it ships, deflated at the highest level. */
export async function zippedBytes(built: BuiltFunctions): Promise<number> {
  const files = filesOf(built, 'all')
  const folder = dirname(files[0] ?? '')
  const contents = await Promise.all(
    files.map(
      async (file) => [relative(folder, file) || basename(file), await readFile(join(built.root, file))] as const,
    ),
  )
  return zipSync(Object.fromEntries(contents), { level: 9 }).length
}

/** @throws Error when a function has grown beyond its budget */
export async function requireBudgets(root: string, metafile: Metafile): Promise<void> {
  for (const { entryPoint } of Object.values(metafile.outputs)) {
    if (!entryPoint?.startsWith('functions/')) continue
    const bytes = await zippedBytes({ root, entryPoint, metafile })
    const budget = zipBudgetBytes(entryPoint)
    if (bytes <= budget) continue
    throw new Error(
      `${entryPoint} is ${bytes} bytes zipped, more than its budget of ${budget} (infra/bundle/budget.ts).\n` +
        'See what came in by `npm run bench -- zip`; raise the budget only for something that is worth it.',
    )
  }
}
