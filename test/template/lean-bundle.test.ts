import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { filesOf, requireBudgets } from '../../infra/bundle/budget.ts'
import { PROMOTE_ENTRY } from '../../infra/bundle/build.ts'

const ROOT = join(import.meta.dirname, '../..')

/** As every suite runs it, and as it is deployed. */
const { metafile }: { metafile: Metafile } = JSON.parse(await readFile(join(ROOT, 'dist/built.json'), 'utf8'))
/** What a cold start reads. */
const outputs = filesOf({ root: ROOT, entryPoint: PROMOTE_ENTRY, metafile }, 'static')
const inputs = outputs.flatMap((file) => Object.keys(metafile.outputs[file]?.inputs ?? {})).join('\n')

/** For each text, whether it stands in what a cold start reads; not the bundle itself, which would fill the report. */
async function isInOutputs(...texts: string[]): Promise<boolean[]> {
  const code = (await Promise.all(outputs.map((file) => readFile(join(ROOT, file), 'utf8')))).join('\n')
  return texts.map((text) => code.includes(text))
}

it('each function is within its budget', () => requireBudgets(ROOT, metafile))

// A newer SDK may be laid out differently, and nothing but the size would tell: docs/decisions/0013-lean-bundle.md.
describe('a cold start reads', () => {
  it.each([
    [
      'credentials of the environment',
      'credential-provider-env',
      /credential-provider-((sso|ini|process|imds)\/dist|node\/dist-es\/(?!index))/,
    ],
    ['no configuration file', 'loadSharedConfigFiles', /shared-ini-file-loader\/(parseIni|getConfigData|readFile)/],
  ])('%s', (_, present, absent) => {
    expect(inputs).toContain(present)
    expect(inputs).not.toMatch(absent)
  })

  it('the descriptions of no operation that is not used', async () => {
    expect(await isInOutputs('UploadPartCopy', 'PutBucketAccelerateConfiguration')).toEqual([true, false])
  })

  it('nothing of modules that are imported and never used', () => {
    const all = filesOf({ root: ROOT, entryPoint: PROMOTE_ENTRY, metafile }, 'all')
    const shipped = all.flatMap((file) => Object.keys(metafile.outputs[file]?.inputs ?? {})).join('\n')
    expect(shipped).toContain('@tokenizer/inflate')
    expect(shipped).not.toMatch(/mnemonist|eventstream-codec|node_modules\/(debug\/src\/(browser|node|common)|ms)/)
  })

  it("Node's own modules without importing them", async () => {
    const texts = ['process.getBuiltinModule("node:http")', 'from"node:http"', 'from"http"', 'import("node:http")']
    expect(await isInOutputs(...texts)).toEqual([true, false, false, false])
    expect(await isInOutputs('getBuiltinModule("node:crypto")', 'from"node:crypto"', 'from"crypto"')).toEqual([
      true,
      false,
      false,
    ])
  })
})
