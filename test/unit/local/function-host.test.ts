import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type FunctionHost, startFunctionHost } from '../../../infra/local/gateway/function-host.ts'
import { useDirectory } from '../../support/use-directory.ts'

/** It reads its environment as the functions do: while it is loaded. */
const SOURCE = `
const { NAME } = process.env
export async function handler(event, context) {
  console.log('printed by', context.functionName)
  if (event.throws) throw new Error('thrown')
  if (event.hangs) await new Promise(() => {})
  return { NAME, event, leftMs: context.getRemainingTimeInMillis(), functionName: context.functionName }
}`

const root = useDirectory('host')
let host: FunctionHost
let printed = ''
beforeAll(async () => {
  await mkdir(join(root(), 'dist'))
  for (const name of ['one', 'two']) await writeFile(join(root(), `dist/${name}.mjs`), SOURCE)
  const functions = ['one', 'two'].map((name) => ({
    name: `deployed-${name}`,
    handler: `dist/${name}.handler`,
    timeoutMs: 2000,
    schedules: [],
  }))
  const log = (text: string) => {
    printed += text
  }
  host = await startFunctionHost({ root: root(), functions, environment: { NAME: 'any' }, log })
})
afterAll(() => host.stop())

describe('the host of the functions', () => {
  it('invokes each with the environment, its name and its time', async () => {
    const told = { NAME: 'any', leftMs: expect.closeTo(2000, -3) }
    for (const name of ['one', 'two']) {
      const functionName = `deployed-${name}`
      expect(await host.invoke(functionName, { name })).toEqual({ ...told, event: { name }, functionName })
    }
    await vi.waitFor(() => expect(printed).toContain('printed by deployed-two'))
  })

  it('tells what a function throws, and that its time is over', async () => {
    const [thrown, overdue, unknown] = await Promise.allSettled([
      host.invoke('deployed-one', { throws: true }),
      host.invoke('deployed-one', { hangs: true }),
      host.invoke('deployed-three', {}),
    ])
    const failed = (message: string) => ({ reason: expect.objectContaining({ message }) })
    expect(thrown).toMatchObject(failed('Error: thrown'))
    expect(overdue).toMatchObject(failed('Error: Task timed out after 2 seconds'))
    expect(unknown).toMatchObject(failed('There is no function deployed-three.'))
  })

  it('cuts off what is under way when it is restarted, and says so', async () => {
    const cutOff = expect(host.invoke('deployed-one', { hangs: true })).rejects.toThrow('process has ended')
    await host.restart()
    await cutOff
    expect(await host.invoke('deployed-one', {})).toMatchObject({ NAME: 'any' })
  })
})
