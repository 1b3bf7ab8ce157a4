import { writeFile } from 'node:fs/promises'
import { stripVTControlCharacters } from 'node:util'

interface Transcript {
  note(command: string, output: string): void
  /** @param file undefined: nowhere @param places of this machine, which the transcript does not name */
  write(file: string | undefined, places: string[]): Promise<void>
}

/** What was typed and what was answered, in the order of events. */
export function createTranscript(): Transcript {
  const entries: string[] = []
  return {
    note(command, output) {
      const lines = stripVTControlCharacters(output)
        .split('\n')
        .map((line) => line.trimEnd())
        .filter((line) => line !== '' && !line.startsWith('npm warn'))
      entries.push([`$ ${command}`, ...lines].join('\n'))
    },
    async write(file, places) {
      if (file === undefined) return
      const text = `${entries.join('\n\n')}\n`.replace(/127\.0\.0\.1:\d+/g, 'mock')
      await writeFile(
        file,
        places.reduce((shown, place) => shown.replaceAll(place, '.'), text),
      )
    },
  }
}
