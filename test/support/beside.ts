import { vi } from 'vitest'

type ArgsOf<Call> = Call extends (...args: infer Args) => unknown ? Args : never
type Method<Port> = keyof Port & string

/** Has the next call of this method do this first; those that follow, and those that `act` makes, do not. */
export function beforeNext<Port extends object, Name extends Method<Port>>(
  port: Port,
  name: Name,
  act: (...args: ArgsOf<Port[Name]>) => unknown,
) {
  const methods = port as Record<string, (...args: unknown[]) => unknown>
  const call = methods[name]
  return vi.spyOn(methods, name).mockImplementationOnce(async (...args) => {
    await act(...(args as ArgsOf<Port[Name]>))
    return call?.(...args)
  })
}

/** Has the next call of this method do this before it answers. */
export function afterNext<Port extends object>(port: Port, name: Method<Port>, act: () => unknown) {
  const methods = port as Record<string, (...args: unknown[]) => unknown>
  const call = methods[name]
  return vi.spyOn(methods, name).mockImplementationOnce(async (...args) => {
    const answer = await call?.(...args)
    await act()
    return answer
  })
}
