import { styleText } from 'node:util'

export type Colour = 'red' | 'green' | 'yellow' | 'dim'

/** Colours for a stream that is a terminal; NO_COLOR and FORCE_COLOR are honoured (https://no-color.org). */
export function colour(colour: Colour, text: string, stream: NodeJS.WriteStream): string {
  return styleText(colour, text, { stream })
}
