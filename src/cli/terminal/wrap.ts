/** Breaks lines of text at spaces. Words, and commands in backquotes, stay whole, so that they can be copied. */
import { displayWidth } from "./table/display-width.ts";

/** A number and its percent sign are one word. */
const word = /(?:`[^`\n]*`|\S)+(?: %\S*)?/g;

/**
 * A word that is longer than a line has a line of its own.
 * @param head what the first line begins with; the others are indented by its width
 */
export function wrapText(text: string, columns: number, head = ""): string {
  const indent = " ".repeat(displayWidth(head));
  const lines: string[] = [];
  let line = "";
  for (const [next] of text.matchAll(word)) {
    if (line !== "" && displayWidth(`${indent}${line} ${next}`) > columns) {
      lines.push(line);
      line = next;
    } else line = line === "" ? next : `${line} ${next}`;
  }
  return head + [...lines, line].join(`\n${indent}`);
}

/** Wraps the lines that are too long. The others of an item, or of a value after its label, are indented like its text. */
export function wrapLines(text: string, columns: number): string {
  return text
    .split("\n")
    .map((line) => {
      const isRule = line.startsWith("─");
      if (isRule || displayWidth(line) <= columns) return line;
      const head = /^ *(?:[-+✓✗] )?(?:\S(?: ?\S)* {2,})?/.exec(line)?.[0] ?? "";
      const short = displayWidth(head) > columns / 2 ? (/^ */.exec(line)?.[0] ?? "") : head;
      return wrapText(line.slice(short.length), columns, short);
    })
    .join("\n");
}
