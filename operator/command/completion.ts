import { Argument, type Command } from 'commander'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** What may follow the words of a command: its subcommands with their summaries, and its options with the global ones. */
type Place = { readonly words: string; readonly next: readonly (readonly [string, string])[] }

const placesOf = (command: Command, words: readonly string[], above: Place['next']): Place[] => {
  const options = command.options.flatMap(({ long, description }) => (long ? [[long, description] as const] : []))
  const subs = command.commands.map((sub) => [sub.name(), sub.summary()] as const)
  const known = [...options, ...above.filter(([name]) => options.every(([own]) => own !== name))]
  return [
    { words: words.join(' '), next: [...subs, ...known, ['--help', 'help for this command']] },
    ...command.commands.flatMap((sub) => placesOf(sub, [...words, sub.name()], known)),
  ]
}

const quotedForShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The words that are commands and not options decide what follows; a file is offered behind anything else. */
const bash = (places: readonly Place[]): string => `# sharelock's completion for bash
_sharelock() {
  local current="\${COMP_WORDS[COMP_CWORD]}" at="" next="" word
  local -A places=(
${places.map(({ words, next }) => `    [x${words === '' ? '' : ` ${words}`}]=${quotedForShell(next.map(([name]) => name).join(' '))}`.replace(/\[(x[^\]]*)\]/, '["$1"]')).join('\n')}
  )
  at="x"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ -n "\${places["$at $word"]+is}" ]] && at="$at $word"
  done
  next="\${places["$at"]}"
  COMPREPLY=($(compgen -W "$next" -- "$current"))
  [[ \${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _sharelock sharelock`

const zsh = (places: readonly Place[]): string => `# sharelock's completion for zsh
autoload -Uz bashcompinit && bashcompinit
${bash(places)}`

/** fish tests by a function of its own whether the words so far end a place. */
const fish = (places: readonly Place[]): string =>
  [
    "# sharelock's completion for fish",
    'function __sharelock_at',
    '  set -l words (commandline -opc)[2..]',
    "  test (string join ' ' (string match -v -- '-*' $words)) = $argv[1]",
    'end',
    ...places.flatMap(({ words, next }) =>
      next.map(([name, what]) => {
        const given = name.startsWith('--') ? `-l ${name.slice(2)}` : `-f -a ${name}`
        return `complete -c sharelock -n ${quotedForShell(`__sharelock_at ${quotedForShell(words)}`)} ${given} -d ${quotedForShell(what)}`
      }),
    ),
  ].join('\n')

const SCRIPTS: Readonly<Record<Shell, (places: readonly Place[]) => string>> = { bash, zsh, fish }

export const addCompletion = (program: Command): void => {
  program
    .command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .summary('print a script that completes commands and options')
    .description(
      "Prints a script for a shell, made of this version's own commands and options. It asks nothing of AWS.",
    )
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock completion bash > ~/.local/share/bash-completion/completions/sharelock\n  sharelock completion zsh >> ~/.zshrc\n  sharelock completion fish > ~/.config/fish/completions/sharelock.fish',
    )
    .action((shell: Shell) => {
      process.stdout.write(`${SCRIPTS[shell](placesOf(program, [], []))}\n`)
    })
}
