/** Prints the demo: headings, commands, and claims, each of which is checked. */

import { isDeepStrictEqual, styleText } from "node:util";

export interface Story {
  heading(text: string): void;
  /** A command line, before it runs. */
  command(text: string): void;
  print(text: string): void;
  /** Prints the claim if both values are equal, else the difference. */
  claim(text: string, actual: unknown, expected: unknown): void;
  readonly wrongClaims: number;
}

export function startStory(out: NodeJS.WriteStream): Story {
  let wrongClaims = 0;
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream: out });
  return {
    heading: (text) => void out.write(`\n${style("bold", text)}\n`),
    command: (text) => void out.write(`${style("dim", "$")} ${style("cyan", text)}\n`),
    print: (text) => void out.write(`${text}\n`),
    claim(text, actual, expected) {
      if (isDeepStrictEqual(actual, expected)) {
        out.write(`${style("green", "✓")} ${text}\n`);
        return;
      }
      wrongClaims++;
      const [is, should] = [actual, expected].map((value) => JSON.stringify(value));
      out.write(`${style("red", "✗")} Not true: ${text}\n  It is ${is} and should be ${should}.\n`);
    },
    get wrongClaims() {
      return wrongClaims;
    },
  };
}
