import { expect, it } from "vitest";
import { redactTokens } from "../../../src/cli/terminal/format.ts";

const token = "8c2719eed45249d73005f2c0fa642c9c37d5910f";

it.each([
  [`error: unknown command '${token}'`, "error: unknown command '[hidden]'"],
  [
    `error: too many arguments for 'add'. Expected 1 argument but got 2: ada, ${token}.`,
    "but got 2: ada, [hidden]",
  ],
  [`error: unknown option '--token=${token}'`, "error: unknown option '--token'"],
  ["error: unknown option '--token=it's short'", "error: unknown option '--token'"],
  [`error: unknown option '-${token}'`, "error: unknown option '[hidden]'"],
])("%s is printed without a possible secret", (text, printed) => {
  expect(redactTokens(text)).toContain(printed);
  expect(redactTokens(text)).not.toMatch(/8c27|short/);
});

it.each([
  "error: unknown option '--nonsense'\n(Did you mean --mirror?)",
  "error: option '--port <n>' argument '99999999999999999' is invalid. It must be a port.",
  "error: unknown command 'snyc'",
])("%s is printed unchanged", (text) => {
  expect(redactTokens(text)).toBe(text);
});
