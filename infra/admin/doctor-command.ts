import type { Command } from 'commander'
import type { Run } from './session.ts'

export function addDoctorCommand(command: Command, run: Run): void {
  command
    .description('check configuration, credentials, clock, tables, buckets and permissions; changes nothing')
    .addHelpText(
      'after',
      '\nChecks are independent: a failed one does not stop the others. What cannot be known here is "not checked",\nwith the reason. Ends with 1 when there is a problem.',
    )
    .action(() =>
      run(async (session) => {
        const { examine } = await import('./doctor/examine.ts')
        return examine(session)
      }),
    )
}
