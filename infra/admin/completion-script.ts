import type { Command } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

const NAME = 'promotion-admin'

interface Words {
  /** The commands before it, with a space between them; empty for the program itself. */
  path: string
  words: string[]
}

/** A script for the shell that knows all commands and options of the program: completing starts no process. */
export function completionScript(program: Command, shell: Shell): string {
  const all = wordsOf(program, [], [])
  if (shell === 'fish') return fishScript(all)
  const bash = bashScript(all)
  return shell === 'bash' ? bash : `autoload -U +X bashcompinit && bashcompinit\n${bash}`
}

function wordsOf(command: Command, path: string[], inherited: string[]): Words[] {
  const options = [...inherited, ...command.options.flatMap(({ long, hidden }) => (hidden || !long ? [] : long))]
  const known = [...new Set(options)]
  const children = command.commands.map((child) => child.name())
  return [
    { path: path.join(' '), words: [...children, ...known, '--help'] },
    ...command.commands.flatMap((child) =>
      wordsOf(
        child,
        [...path, child.name()],
        known.filter((word) => word !== '--version'),
      ),
    ),
  ]
}

/** Options of the program take a value: the word after one is no command. */
function bashScript(all: Words[]): string {
  const cases = all.map(({ path, words }) => `    "${path}") words="${words.join(' ')}" ;;`)
  const paths = all.map(({ path }) => `"${path}"`).filter((path) => path !== '""')
  return `_promotion_admin() {
  local path="" word words="" known=" ${paths.map((path) => path.slice(1, -1).replaceAll(' ', '/')).join(' ')} "
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    local next="\${path:+$path/}$word"
    [[ "$known" == *" $next "* ]] && path="$next"
  done
  case "\${path//\\// }" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _promotion_admin ${NAME}`
}

function fishScript(all: Words[]): string {
  return all
    .map(({ path, words }) => {
      const condition =
        path === ''
          ? '__fish_use_subcommand'
          : path
              .split(' ')
              .map((word) => `__fish_seen_subcommand_from ${word}`)
              .join('; and ')
      return `complete -c ${NAME} -f -n '${condition}' -a '${words.join(' ')}'`
    })
    .join('\n')
}
