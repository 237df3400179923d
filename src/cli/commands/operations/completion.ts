/**
 * `armoire completion`: prints a script that lets a shell complete commands and options. At each Tab the script calls
 * `armoire complete -- WORDS`, which prints the candidates in the format of Cobra's scripts.
 */
import { ShellCompDirective, script } from "@bomb.sh/tab";
import { Argument, type Command, type Option } from "commander";
import { listQuestions } from "../../../query/questions/questions.ts";
import { addHelp } from "../../terminal/help.ts";
import type { Io } from "../../terminal/io.ts";

export function configure(command: Command, io: Io): void {
  command.addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"]));
  addHelp(command, {
    details: [
      "The script completes the names of commands, options, questions and fixed values for an installed `armoire`. The examples store it " +
        "where the shell reads it at its start. For bash the package bash-completion must be installed; in zsh, compinit must run first.",
    ],
    examples: [
      "armoire completion bash > ~/.armoire-completion && echo 'source ~/.armoire-completion' >> ~/.bashrc",
      "armoire completion zsh > ~/.armoire-completion && echo 'source ~/.armoire-completion' >> ~/.zshrc",
      "armoire completion fish > ~/.config/fish/completions/armoire.fish",
    ],
    exitCodes: ["done", "failed", "usage"],
  });
  command.action((shell: string) => {
    if (shell === "bash") io.out(bashScript);
    else script(shell, "armoire", "armoire");
  });
}

/** The library's script for bash evaluates what the user has typed so far, and runs a command substitution in it. */
const bashScript = `# bash completion for armoire
__armoire_complete() {
    local words cword line
    _get_comp_words_by_ref -n "=:" words cword
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :4) compopt +o default ;;
            :*) ;;
            *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
        esac
    done < <(armoire complete -- "\${words[@]:1:cword}" 2>/dev/null)
}
complete -o default -F __armoire_complete armoire

# Else a word such as @models would begin after the @.
COMP_WORDBREAKS=\${COMP_WORDBREAKS//@/}
`;

interface Candidate {
  readonly value: string;
  readonly about: string;
}

/**
 * The candidates for the last word, a line each, then a directive: without candidates the shell completes file names.
 * @param words after the program's name; the last one may be empty
 * @param load adds the options of a command that is named
 */
export async function formatCandidates(
  program: Command,
  words: readonly string[],
  load: (command: Command) => Promise<void>,
): Promise<string> {
  const last = words.at(-1) ?? "";
  const all = await candidatesAfter(program, words.slice(0, -1), last, load);
  const found = all.filter(({ value }) => value.startsWith(last));
  const { ShellCompDirectiveDefault: files, ShellCompDirectiveNoFileComp: noFiles } = ShellCompDirective;
  const lines = found.map(({ value, about }) => `${value}\t${about}\n`);
  return `${lines.join("")}:${found.length === 0 ? files : noFiles}\n`;
}

async function candidatesAfter(
  program: Command,
  words: readonly string[],
  last: string,
  load: (command: Command) => Promise<void>,
): Promise<readonly Candidate[]> {
  let command = program;
  let operands = 0;
  let valued: Option | undefined;
  for (const word of words) {
    const subcommand = operands === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    if (valued !== undefined) valued = undefined;
    else if (word.startsWith("-"))
      valued = optionsOf(command).find((option) => option.long === word && takesValue(option));
    else if (subcommand === undefined) operands++;
    else {
      if (command === program) await load(subcommand);
      command = subcommand;
    }
  }
  if (valued !== undefined) return toCandidates(valued.argChoices);
  if (last.startsWith("-"))
    return optionsOf(command).map(({ long, description }) => ({ value: long ?? "", about: description }));
  const subcommands = operands === 0 ? command.createHelp().visibleCommands(command) : [];
  const names = subcommands.map((one) => ({ value: one.name(), about: one.description() }));
  const questions = command.name() === "query" && operands === 0 ? questionCandidates() : [];
  return [...names, ...questions, ...toCandidates(command.registeredArguments[operands]?.argChoices)];
}

const questionCandidates = (): Candidate[] =>
  listQuestions().map(({ name, title }) => ({ value: `@${name}`, about: title }));

/** With those of subcommands: one of them may be the default. */
function optionsOf(command: Command): readonly Option[] {
  const all = [command, ...command.commands].flatMap((one) => one.createHelp().visibleOptions(one));
  return [...new Map(all.map((option) => [option.long, option])).values()];
}

const takesValue = ({ required, optional }: Option): boolean => required || optional;

function toCandidates(choices: readonly string[] = []): Candidate[] {
  return choices.map((value) => ({ value, about: "" }));
}
