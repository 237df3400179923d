/** The pager, in a real terminal. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { showInTerminal } from "../support/terminal.ts";

const showTables = (rows: number, env: Readonly<Record<string, string>>) =>
  showInTerminal(["tables", "size"], { rows, env });

it("text that is longer than the screen is shown by the program in PAGER, without credentials", async () => {
  await using folder = await temporaryFolder();
  const [pager, taken] = ["pager", "taken"].map((name) => join(folder.path, name));
  writeFileSync(String(pager), `#!/bin/sh\n(env; cat) > ${taken}\necho shown\n`);
  chmodSync(String(pager), 0o700);
  const env = { PAGER: String(pager), ARMOIRE_TOKEN: "secret-of-the-test" };
  expect(await showTables(10, env)).toBe("shown\r\n");
  const text = readFileSync(String(taken), "utf8");
  expect(text).toContain("size: ");
  expect(text).not.toContain("secret-of-the-test");
});

it.each([
  ["text that fits the screen", 200, { PAGER: "false" }],
  ["text for an empty PAGER", 10, { PAGER: "" }],
  ["text for a program that does not exist", 10, { PAGER: "/no/such/pager" }],
])("%s is printed without a pager", async (_case, rows, env) => {
  expect(await showTables(rows, env)).toMatch(/^size: /);
});
