import { AsyncLocalStorage } from 'node:async_hooks'

const TURNS = new AsyncLocalStorage<{ permit: Promise<unknown>; left: number }>()

/** Runs a request, of which so many calls to stores may begin at once. All others wait for the permit. */
export function withFirstCallsUntil<Result>(permit: Promise<unknown>, calls: number, run: () => Result): Result {
  return TURNS.run({ permit, left: calls }, run)
}

/** Await it before each call to a store, and before each repetition. @returns the permit, which rejects with the refusal */
export function turn(): Promise<unknown> | undefined {
  const turns = TURNS.getStore()
  return turns && --turns.left < 0 ? turns.permit : undefined
}
