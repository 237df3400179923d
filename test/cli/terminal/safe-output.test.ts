/** What reaches a terminal, and what reaches a file. */
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { printRows, type ResultFormat } from "../../../src/cli/format/data/result.ts";
import { toJsonLine } from "../../../src/cli/terminal/format.ts";
import { type OutputStreams, printersOf } from "../../../src/cli/terminal/io.ts";
import { escapeControls, escapeLines } from "../../../src/cli/terminal/safe-text.ts";
import { fakeIo } from "../support/fake-io.ts";

/** One of each group of characters that control a terminal, are invisible, or turn text around. */
const unsafe = [
  ...["\u001b[31m", "\u0007", "\r", "\u007f", "\u009b2J", "\u202e", "\u2066", "\u200f", "\u2028", "\u2029"],
  ...["\ufeff", "\u00ad", "\u200b", "\u2060", "\u{e0041}", "\ud800"],
].join("|");
/** The same in JSON, where a lone surrogate is an escape as text. */
const inJson = unsafe.replace("\ud800", "\\ud800");
const unsafeCharacter = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Printers to streams that are a terminal. */
function fakeTerminal() {
  const stdout = Object.assign(new PassThrough(), { fd: 1, isTTY: true });
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 0 });
  const printers = printersOf({ stdout: stdout as unknown as OutputStreams["stdout"], stderr });
  const ended = (stream: PassThrough) => text(stream.end());
  return { ...printers, readOut: () => ended(stdout), readErr: () => ended(stderr) };
}

it.each<ResultFormat>(["table", "csv", "json", "ndjson"])(
  "rows as %s bring no unsafe character to a terminal",
  async (format) => {
    const { out, readOut } = fakeTerminal();
    await printRows([`name ${unsafe}`], [[unsafe], [`é 日本 👙 ${unsafe}`]], format, "exact", {
      ...{ out, hasReader: () => true },
      screen: null,
    });
    const printed = await readOut();
    expect(printed.replaceAll("\n", "")).not.toMatch(unsafeCharacter);
    expect(printed).toContain("é 日本 👙");
  },
);

it("a message has lines of 80 columns on a terminal that does not know its width", async () => {
  const { err, readErr } = fakeTerminal();
  err(`${"word ".repeat(20)}\n`);
  expect((await readErr()).split("\n").map(({ length }) => length)).toEqual([79, 19, 0]);
});

it.each<ResultFormat>(["json", "ndjson"])(
  "rows as %s have unsafe characters as escapes, also in a file, and mean the same",
  async (format) => {
    const io = fakeIo();
    await printRows(["name"], [[unsafe]], format, "exact", io);
    const printed = io.written.out;
    expect(printed.replaceAll("\n", "")).not.toMatch(unsafeCharacter);
    expect([JSON.parse(printed)].flat()).toEqual([{ name: inJson }]);
  },
);

it("CSV in a file has its text unchanged", async () => {
  const io = fakeIo();
  await printRows(["name"], [["a\u009b\u202e\u00ad"]], "csv", "exact", io);
  expect(io.written.out).toBe("name\na\u009b\u202e\u00ad\n");
});

it("a JSON document has unsafe characters as escapes, and means the same", () => {
  const line = toJsonLine({ [unsafe]: unsafe, exact: 2n ** 70n });
  expect(line.slice(0, -1)).not.toMatch(unsafeCharacter);
  expect(JSON.parse(line)).toMatchObject({ [inJson]: inJson });
  expect(line).toMatch(/"exact":1180591620717411303424\}\n$/);
});

it("messages and progress bring no unsafe character to a terminal but those that clear its line", async () => {
  const { err, rewriteLine, readErr } = fakeTerminal();
  err(`Failed: ${unsafe}\n`);
  rewriteLine(`brand ${unsafe}`);
  rewriteLine("");
  const [message, progress, ...rest] = (await readErr()).split("\r\u001b[2K");
  expect(message?.replace("\n", "")).not.toMatch(unsafeCharacter);
  expect(progress).not.toMatch(unsafeCharacter);
  expect(rest).toEqual([""]);
});

it.each([0, 1, 2])("a long text has the escapes of a short one, wherever its slices end (%d)", (before) => {
  const pairs = `${"x".repeat(before)}${"\u{e0041}😀".repeat(40_000)}\ud83d`;
  const escaped = `${"x".repeat(before)}${"\\udb40\\udc41😀".repeat(40_000)}\\ud83d`;
  // A message with both would take minutes.
  for (const toSafe of [escapeLines, escapeControls]) expect(toSafe(pairs) === escaped).toBe(true);
});
