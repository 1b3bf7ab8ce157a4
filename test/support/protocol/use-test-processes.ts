import { afterAll, beforeAll } from 'vitest'
import { startTestProcess, type TestProcess } from './test-process.ts'
import { createTestStores } from './test-stores.ts'

type Options = { atOnce: number } & Parameters<typeof startTestProcess>[1]

/** Processes with stores of their own each, for all tests of a file. What one leaves, the next user of its stores finds. */
export function useTestProcesses({ atOnce, ...options }: Options) {
  const processes: TestProcess[] = []
  const idle: TestProcess[] = []
  const waiting: ((process: TestProcess) => void)[] = []

  beforeAll(async () => {
    for (let i = 0; i < atOnce; i++) processes.push(await startTestProcess(await createTestStores(), options))
    idle.push(...processes)
  })
  afterAll(async () => {
    await Promise.all(processes.map((process) => process.stop()))
  })

  const take = () => idle.pop() ?? new Promise<TestProcess>((resolve) => waiting.push(resolve))
  const giveBack = (process: TestProcess) => {
    const next = waiting.shift()
    if (next) next(process)
    else idle.push(process)
  }
  /** Waits until a process is free. */
  const one = async <Result>(use: (process: TestProcess) => Promise<Result>): Promise<Result> => {
    const process = await take()
    return use(process).finally(() => giveBack(process))
  }
  return {
    one,
    /** Does all tasks, as many side by side as there are processes. The first failure is thrown when all have ended. */
    async all<Task>(tasks: readonly Task[], run: (task: Task, process: TestProcess) => Promise<void>): Promise<void> {
      const ended = await Promise.allSettled(tasks.map((task) => one((process) => run(task, process))))
      for (const end of ended) if (end.status === 'rejected') throw end.reason
    },
  }
}
