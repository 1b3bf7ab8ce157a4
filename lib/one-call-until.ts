const TURNS = new WeakMap<AbortSignal, { permit: Promise<unknown>; isFirstTaken: boolean }>()

/** The first call with this signal may begin at once. A refused permit aborts it; all others wait for the permit. */
export function oneCallUntil(permit: Promise<unknown>, signal: AbortSignal): AbortSignal {
  const refused = new AbortController()
  permit.catch((refusal) => refused.abort(refusal))
  const held = AbortSignal.any([signal, refused.signal])
  TURNS.set(held, { permit, isFirstTaken: false })
  return held
}

/** Await it before each call to a store, and before each repetition. @throws the refusal */
export async function turnOf(signal: AbortSignal): Promise<void> {
  const turns = TURNS.get(signal)
  if (turns?.isFirstTaken) await turns.permit
  else if (turns) turns.isFirstTaken = true
}
