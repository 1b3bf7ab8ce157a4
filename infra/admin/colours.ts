import { styleText } from 'node:util'
import type { TextOutput } from './terminal.ts'

export type Colour = 'red' | 'green' | 'yellow' | 'dim'

/** Colours for a stream that is a terminal; NO_COLOR and FORCE_COLOR are honoured (https://no-color.org). */
export function colour(colour: Colour, text: string, stream: TextOutput): string {
  return styleText(colour, text, { stream })
}
