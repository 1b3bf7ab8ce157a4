import { readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { zipSync } from 'fflate'
import { filesOf } from '../../../infra/bundle/build.ts'

export const PROMOTE_ENTRY = 'functions/promote-container-file.ts'
/** Just above each zip's size, so that growth is noticed. The promotion's zip includes a library of file types. */
const ZIP_BUDGETS_BYTES: Readonly<Record<string, number>> = {
  [PROMOTE_ENTRY]: 159_000,
  'functions/publish-events.ts': 64_000,
}
const ZIP_BUDGET_BYTES = 124_500

export const zipBudgetBytes = (entryPoint: string) => ZIP_BUDGETS_BYTES[entryPoint] ?? ZIP_BUDGET_BYTES

/** Size of a function as it ships, deflated at the highest level. */
export async function zippedBytes(built: Parameters<typeof filesOf>[0]): Promise<number> {
  const files = filesOf(built, 'all')
  const folder = dirname(files[0] ?? '')
  const contents = files.map(async (file) => [relative(folder, file), await readFile(join(built.root, file))])
  return zipSync(Object.fromEntries(await Promise.all(contents)), { level: 9 }).length
}
