/** Reads the project's Markdown: sections, shell commands in fenced blocks, links. */

export interface Section {
  /** Without its `#` and backticks. */
  readonly heading: string;
  /** Up to the next heading of any level. */
  readonly text: string;
}

export function sectionsOf(markdown: string): readonly Section[] {
  return withoutFences(markdown)
    .split(/^#+ /m)
    .slice(1)
    .map((section) => {
      const [heading = "", ...lines] = section.split("\n");
      return { heading: heading.replaceAll("`", ""), text: lines.join("\n") };
    });
}

/** All shell commands in `sh` blocks, each as a list of words; pipes and `&&` separate commands. */
export function shellCommandsIn(markdown: string): readonly (readonly string[])[] {
  const blocks = [...markdown.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block);
  return blocks.flatMap((block) => block.replace(/ \\\n */g, " ").split("\n")).flatMap(commandsInLine);
}

export function linksIn(markdown: string): readonly string[] {
  return [...withoutFences(markdown).matchAll(/\]\(([^)\s]+)\)/g)].flatMap((match) => match.slice(1));
}

/** The URL fragment of a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

function commandsInLine(line: string): string[][] {
  const commands: string[][] = [[]];
  for (const [token] of line.matchAll(/"[^"]*"|'[^']*'|&&|[|>]|[^\s|>&]+/g)) {
    if (token === "&&" || token === "|") commands.push([]);
    else commands.at(-1)?.push(token.replace(/^(["'])(.*)\1$/, "$2"));
  }
  return commands.map(withoutAssignments).filter((words) => words.length > 0);
}

/** Removes variable assignments and the redirection of output. */
function withoutAssignments(words: string[]): string[] {
  const start = words.findIndex((word) => !/^\w+=/.test(word));
  const redirection = words.indexOf(">");
  return start < 0 ? [] : words.slice(start, redirection < 0 ? undefined : redirection);
}

export function withoutFences(markdown: string): string {
  return markdown.replace(/^```.*?^```$/gms, "");
}
