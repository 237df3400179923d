/** Asking the person at the terminal, without showing what she types if it is secret. */
import type { ReadStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";

const [interrupt, endOfInput, erase, backspace, eraseLine] = ["\u0003", "\u0004", "\u007f", "\b", "\u0015"];

export interface Question {
  readonly text: string;
  /** Then nothing that is typed is shown, not even how long it is. */
  readonly isSecret: boolean;
}

/** What a terminal's input must be able to do. */
export type TerminalInput = Pick<
  ReadStream,
  "setRawMode" | "on" | "off" | "resume" | "pause" | "setEncoding"
>;

/**
 * @param write to the terminal
 * @param onInterrupt called at Ctrl-C, when the terminal is as it was
 * @returns the line; null where the input ends
 */
export function askTerminal(
  { text, isSecret }: Question,
  input: TerminalInput,
  write: (text: string) => void,
  onInterrupt: () => void,
): Promise<string | null> {
  return new Promise((resolve) => {
    let typed = "";
    const end = (line: string | null, isInterrupted = false): void => {
      input.setRawMode(false);
      input.pause();
      input.off("data", read).off("end", endEmpty);
      write("\n");
      if (isInterrupted) onInterrupt();
      resolve(line);
    };
    const endEmpty = (): void => end(null);
    const take = (character: string): void => {
      if (character === erase || character === backspace) {
        if (typed !== "" && !isSecret) write("\b \b");
        typed = typed.slice(0, -1);
      } else if (character === eraseLine) {
        if (!isSecret) write("\b \b".repeat(typed.length));
        typed = "";
      } else if (character >= " ") {
        if (!isSecret) write(character);
        typed += character;
      }
    };
    const read = (chunk: string) => {
      // What a key sends that is no character, such as an arrow.
      for (const character of stripVTControlCharacters(chunk)) {
        if (character === "\r" || character === "\n") return end(typed);
        if (character === interrupt) return end(null, true);
        if (character === endOfInput && typed === "") return end(null);
        take(character);
      }
    };
    input.setEncoding("utf8");
    // Before the question is there: whoever answers at once would else see what she types.
    input.setRawMode(true);
    write(text);
    input.on("data", read).on("end", endEmpty).resume();
  });
}
