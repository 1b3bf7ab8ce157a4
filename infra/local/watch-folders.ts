import { watch } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Editors save in several steps, and often several files. */
const SETTLE_MS = 100

/** Calls back after files below the folders were saved: once for files saved together, and never twice at a time. */
export function watchFolders(folders: readonly string[], onChange: () => Promise<void>): void {
  let isChanged = false
  let isBusy = false
  const work = async () => {
    isChanged = true
    if (isBusy) return
    isBusy = true
    while (isChanged) {
      await sleep(SETTLE_MS)
      isChanged = false
      await onChange()
    }
    isBusy = false
  }
  for (const folder of folders) watch(folder, { recursive: true }, () => void work())
}
