/**
 * Breaks lines of text at spaces, and long JSON between its members. Words, and commands in backquotes, stay whole, so that
 * they can be copied.
 */
import { displayWidth } from "./table/display-width.ts";

/** A number and its percent sign are one word. */
const word = /(?:`[^`\n]*`|\S)+(?: %\S*)?/g;

const betweenMembers = /(?<=[\]}"\dle],)(?=["{[])/;

/**
 * A word that is longer than a line has a line of its own.
 * @param head what the first line begins with; the others are indented by its width
 */
export function wrapText(text: string, columns: number, head = ""): string {
  const indent = " ".repeat(displayWidth(head));
  const lines: string[] = [];
  let line = "";
  for (const [whole] of text.matchAll(word)) {
    const isJson = /^[[{]/.test(whole) && displayWidth(indent + whole) > columns;
    for (const [n, next] of (isJson ? whole.split(betweenMembers) : [whole]).entries()) {
      const longer = line === "" || n > 0 ? line + next : `${line} ${next}`;
      if (line !== "" && displayWidth(indent + longer) > columns) {
        lines.push(line);
        line = next;
      } else line = longer;
    }
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
