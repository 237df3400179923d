import { PassThrough } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { askTerminal } from "../../../src/cli/terminal/ask-terminal.ts";

/** The input of a terminal, typed in the given pieces. */
function terminal() {
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), {
    setRawMode: (isRaw: boolean) => modes.push(isRaw),
  });
  return { modes, input: input as never as Parameters<typeof askTerminal>[1], typing: input };
}

async function type(pieces: readonly string[], isSecret: boolean) {
  const { modes, input, typing } = terminal();
  let shown = "";
  let shownWhileTypingShows = "";
  let interrupts = 0;
  const pending = askTerminal(
    { text: "Token: ", isSecret },
    input,
    (text) => {
      shown += text;
      if (modes.length === 0) shownWhileTypingShows += text;
    },
    () => interrupts++,
  );
  for (const piece of pieces) typing.write(piece);
  expect(shownWhileTypingShows).toBe("");
  return { line: await pending, shown, interrupts, modes };
}

describe("prompts", () => {
  it("a prompt returns the line, and shows nothing of a secret", async () => {
    fc.assert(
      await fc.asyncProperty(fc.array(fc.stringMatching(/^[!-~]*$/)), async (pieces) => {
        const { line, shown, modes } = await type([...pieces, "\r", "not read"], true);
        expect({ line, shown, modes }).toEqual({
          line: pieces.join(""),
          shown: "Token: \n",
          modes: [true, false],
        });
      }),
    );
  });

  it("a prompt shows a line that is not secret", async () => {
    expect(await type(["ad", "a\r"], false)).toMatchObject({ line: "ada", shown: "Token: ada\n" });
  });

  it.each([
    ["a key that erases", ["ab\u007fc\u007fd\r"], "ad"],
    ["more of them than letters", ["a\b\b\bx\r"], "x"],
    ["a key that erases the line", ["wrong\u0015right\r"], "right"],
    ["an arrow", ["a\u001b[Db\r"], "ab"],
    ["a line feed", ["a\n"], "a"],
    ["letters of several bytes", ["é€\r"], "é€"],
    ["the end of input after something", ["a\u0004b\r"], "ab"],
    ["nothing", ["\r"], ""],
    ["the end of input", ["\u0004"], null],
  ])("a prompt accepts %s", async (_case, pieces, line) => {
    expect(await type(pieces, true)).toMatchObject({ line, shown: "Token: \n", interrupts: 0 });
  });

  it("a prompt ends at Ctrl-C and restores the terminal", async () => {
    expect(await type(["abc\u0003"], true)).toEqual({
      ...{ line: null, shown: "Token: \n", interrupts: 1, modes: [true, false] },
    });
  });

  it("a prompt ends when the terminal is closed", async () => {
    const { input, typing } = terminal();
    const pending = askTerminal(
      { text: "", isSecret: true },
      input,
      () => {},
      () => {},
    );
    typing.end("abc");
    expect(await pending).toBeNull();
  });
});
