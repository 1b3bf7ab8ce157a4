import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the suites that take seconds, by project (vitest.config.ts): all their cases, or enough to notice most mistakes. */
    depth?: 'whole' | 'shallow'
  }
}

export const isShallow = (): boolean => inject('depth') === 'shallow'

/**
 * How many of a suite's random cases to run: as many as the variable says; without it, all, or a tenth in a shallow
 * run.
 */
export function casesOf(variable: string, all: number): number {
  return Number(process.env[variable] ?? (isShallow() ? all / 10 : all))
}
