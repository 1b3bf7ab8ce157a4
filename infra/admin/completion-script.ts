import type { Command } from 'commander'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

const NAME = 'promotion-admin'

interface Words {
  /** The commands before it, with a slash between them; empty for the program itself. */
  place: string
  words: string[]
}

/** A script for the shell that knows all commands and options of the program: completing starts no process. */
export function completionScript(program: Command, shell: Shell): string {
  const all = wordsOf(program, [], [])
  if (shell === 'fish') return fishScript(all)
  return shell === 'bash' ? bashScript(all) : zshScript(all)
}

function wordsOf(command: Command, path: string[], inherited: string[]): Words[] {
  const options = [...inherited, ...command.options.flatMap(({ long, hidden }) => (hidden || !long ? [] : long))]
  const known = [...new Set(options)]
  const children = command.commands.map((child) => child.name())
  return [
    { place: path.join('/'), words: [...children, ...known, '--help'] },
    ...command.commands.flatMap((child) =>
      wordsOf(
        child,
        [...path, child.name()],
        known.filter((word) => word !== '--version'),
      ),
    ),
  ]
}

// All three walk through the words before the cursor and keep those that lead to a command: the others are options and
// their values. Where nothing fits, bash and zsh offer files.

function bashScript(all: Words[]): string {
  return `_promotion_admin() {
  local place="" word next words="" known=" ${placesOf(all).join(' ')} "
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${place:+$place/}$word"
    [[ "$known" == *" $next "* ]] && place="$next"
  done
  case "$place" in
${all.map(({ place, words }) => `    "${place}") words="${words.join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _promotion_admin ${NAME}`
}

function zshScript(all: Words[]): string {
  return `(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_promotion_admin() {
  local place="" word next
  local -a known=(${placesOf(all).join(' ')}) candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next="\${place:+$place/}$word"
    (( \${known[(Ie)$next]} )) && place="$next"
  done
  case "$place" in
${all.map(({ place, words }) => `    "${place}") candidates=(${words.join(' ')}) ;;`).join('\n')}
  esac
  compadd -a candidates || _files
}
compdef _promotion_admin ${NAME}`
}

function fishScript(all: Words[]): string {
  return `function __promotion_admin
    set -l place ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -l -c / -- "$place/$word")
        contains -- $next ${placesOf(all).join(' ')}; and set place $next
    end
    switch "$place"
${all.map(({ place, words }) => `        case '${place}'\n            printf '%s\\n' ${words.join(' ')}`).join('\n')}
    end
end
complete -c ${NAME} -f -a '(__promotion_admin)'`
}

function placesOf(all: Words[]): string[] {
  return all.map(({ place }) => place).filter((place) => place !== '')
}
