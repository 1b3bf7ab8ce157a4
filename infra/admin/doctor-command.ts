import type { Command } from 'commander'
import type { Run } from './session.ts'

export function addDoctorCommand(command: Command, run: Run): void {
  command
    .description('check configuration, credentials, clock, tables, buckets and permissions; changes nothing')
    .addHelpText(
      'after',
      '\nEach check is made by itself: one that fails does not keep the others from being made. What cannot be known here\nis "not checked", with the reason. Ends with 1 when there is a problem.',
    )
    .action(() =>
      run(async (session) => {
        const { examine } = await import('./doctor/examine.ts')
        return examine(session)
      }),
    )
}
