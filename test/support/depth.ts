import { inject } from 'vitest'

type Depth = 'shallow' | 'deep' | 'whole'

declare module 'vitest' {
  interface ProvidedContext {
    /** How much of slow suites to run (vitest.config.ts): to find most mistakes, all but what takes minutes, all. */
    depth?: Depth
  }
}

export const depth = (): Depth => inject('depth') ?? 'deep'

/**
 * How many of a suite's random cases to run: as many as the variable says; without it, all of them, or a tenth in a
 * shallow run.
 */
export function casesOf(variable: string, all: number): number {
  return Number(process.env[variable] ?? (depth() === 'shallow' ? all / 10 : all))
}
