import { AsyncLocalStorage } from 'node:async_hooks'

const TURNS = new AsyncLocalStorage<{ permit: Promise<unknown>; isFirstTaken: boolean }>()

/** Runs a request, whose first call to a store may begin at once. All others wait for the permit. */
export function withOneCallUntil<Result>(permit: Promise<unknown>, run: () => Result): Result {
  return TURNS.run({ permit, isFirstTaken: false }, run)
}

/** Await it before each call to a store, and before each repetition. @returns the permit, which rejects with the refusal */
export function turn(): Promise<unknown> | undefined {
  const turns = TURNS.getStore()
  if (turns?.isFirstTaken) return turns.permit
  if (turns) turns.isFirstTaken = true
  return undefined
}
