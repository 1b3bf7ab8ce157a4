import { Argument, type Command } from 'commander'
import { completionScript, SHELLS, type Shell } from './completion-script.ts'

const EXPLANATION = `
bash, for this shell and for those to come:
  source <(npx promotion-admin completion bash)
zsh:
  source <(npx promotion-admin completion zsh)
fish:
  npx promotion-admin completion fish | source`

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'which').choices(SHELLS))
    .addHelpText('after', EXPLANATION)
    .action((shell: Shell) => console.log(completionScript(program, shell)))
}
