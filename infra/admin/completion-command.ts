import { Argument, type Command } from 'commander'
import { completionScript, SHELLS, type Shell } from './completion-script.ts'
import type { Terminal } from './terminal.ts'

const EXPLANATION = `
It completes the command promotion-admin; in a checkout, after: alias promotion-admin='npx promotion-admin'
bash:
  source <(npx promotion-admin completion bash)
zsh:
  source <(npx promotion-admin completion zsh)
fish:
  npx promotion-admin completion fish | source
Written into the shell's own startup file, the line is there in every shell.`

export function addCompletionCommand(program: Command, { stdout }: Terminal): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'which').choices(SHELLS))
    .addHelpText('after', EXPLANATION)
    .action((shell: Shell) => void stdout.write(`${completionScript(program, shell)}\n`))
}
