import { beforeAll, describe, expect, it, vi } from 'vitest'
import { type Step, walkThroughReadme } from './readme-walk.ts'

vi.setConfig({ hookTimeout: 300_000 })

describe('README.md, as a new user goes through it', () => {
  let steps: Step[]
  beforeAll(async () => {
    // With the packages that are here: to install them anew is the script's way by itself, and CI's.
    steps = await walkThroughReadme({ isInstalled: true })
  })
  const outputOf = (text: string) =>
    steps.find(({ block, notRun }) => !notRun && block.text.includes(text))?.output ?? ''

  it('works word by word, and says why of what is not run', () => {
    const notRun = steps.filter(({ block }) => block.notRun !== undefined && block.language === 'sh')
    expect(notRun.map(({ block }) => block.text.split('\n').at(-2))).toEqual([
      'npm ci && npm test',
      'npm run admin -- --stage prod smoke',
      'docker cp my-container:/work/output ./output',
      'npm start -- --host host.docker.internal',
      'npm run admin -- --stage prod containers grant sess_a1b2 --workspace ws_acme --for 1h --json',
    ])
    const run = steps.filter(({ notRun }) => notRun === undefined).map(({ where }) => where.replace(/:\d+/, ''))
    expect(run.filter((page) => page === 'README.md').length).toBeGreaterThanOrEqual(8)
    expect(run.filter((page) => page === 'docs/clients.md').length).toBeGreaterThanOrEqual(5)
  })

  it('starts with what the page promises', () => {
    const printed = outputOf('npm start')
    expect(printed).toMatch(/^ {2}curl -i -X POST -H 'Authorization: Bearer cfp_/m)
    expect(printed).toContain('.local/demo.json')
    expect(printed).toContain('.local/service.log')
    expect(printed).toMatch(/A page to look at and to try it: http:\/\/127\.0\.0\.1:\d+\/$/m)
  })

  it('promotes a file of the reader', () => {
    expect(outputOf('put LICENSE')).toContain('"filename":"LICENSE"')
  })

  it('gets files into a sandbox in each way that needs no AWS', () => {
    expect(outputOf('put output')).toContain('output/table.csv')
    expect(outputOf('upload-url')).toMatch(/output\/note\.txt.*output\/table\.csv/s)
    const isWritten = steps.some(({ block, notRun }) => !notRun && block.text.includes('aws s3 cp'))
    expect(outputOf('aws s3 cp')).toContain(isWritten ? 'upload: output/table.csv to s3://local-sandboxes/' : '')
  })

  it('makes the same id of a path in every language', () => {
    const ids = ['printf', 'Buffer.from', 'urlsafe_b64encode'].map((text) => outputOf(text).trim())
    expect(new Set(ids)).toEqual(new Set(['cfile_b3V0cHV0L3JlcG9ydC5jc3Y']))
  })
})
