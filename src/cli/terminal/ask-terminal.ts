/** A prompt at the terminal, without echo for secrets. */
import type { ReadStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";

const [interrupt, endOfInput, erase, backspace, eraseLine] = ["\u0003", "\u0004", "\u007f", "\b", "\u0015"];

export interface Question {
  readonly text: string;
  /** A secret is not shown, not even its length. */
  readonly isSecret: boolean;
}

/** The part of a terminal's input stream that a prompt needs. */
export type TerminalInput = Pick<
  ReadStream,
  "setRawMode" | "on" | "off" | "resume" | "pause" | "setEncoding"
>;

/**
 * @param write to the terminal
 * @param onInterrupt called at Ctrl-C, after the terminal is restored
 * @returns the line; null at the end of input
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
      // Removes escape sequences, such as those of arrow keys.
      for (const character of stripVTControlCharacters(chunk)) {
        if (character === "\r" || character === "\n") return end(typed);
        if (character === interrupt) return end(null, true);
        if (character === endOfInput && typed === "") return end(null);
        take(character);
      }
    };
    input.setEncoding("utf8");
    // Before the prompt is printed: otherwise the first typed characters could be shown.
    input.setRawMode(true);
    write(text);
    input.on("data", read).on("end", endEmpty).resume();
  });
}
