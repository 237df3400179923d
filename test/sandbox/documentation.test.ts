/** `docs/sandbox.md` describes every flag, preset, fault and fault parameter, and its example rules are valid. */
import { readFileSync } from "node:fs";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { configure } from "../../src/cli/commands/operations/sandbox.ts";
import type { Io } from "../../src/cli/terminal/io.ts";
import { faultParameters } from "../../src/sandbox/faults/fault.ts";
import { faultPresetNames, faultRules } from "../../src/sandbox/faults/fault-rules.ts";
import { faultNames } from "../../src/sandbox/faults/faults.ts";
import { presetNames } from "../../src/sandbox/options.ts";
import { resourceKinds } from "../../src/sandbox/resources/resource.ts";

const text = readFileSync(new URL("../../docs/sandbox.md", import.meta.url), "utf8");
const command = new Command("sandbox");
const nothing = (): undefined => undefined;
const silent: Io = {
  env: {},
  isTerminal: false,
  columns: 80,
  screen: null,
  ask: null,
  readInput: () => Promise.resolve(""),
  rewriteLine: () => {},
  out: nothing,
  hasReader: () => true,
  err: nothing,
  setExitCode: nothing,
  onInterrupt: nothing,
};
configure(command, silent);

describe("page", () => {
  // docs/command-line.md, which is generated, describes all options.
  it.each([...new Set(text.match(/--[a-z][a-z-]*/g))])("%s in docs/sandbox.md is an option", (flag) => {
    expect(command.options.map(({ long }) => long)).toContain(flag);
  });

  it.each([...faultNames, ...faultPresetNames, ...presetNames])("docs/sandbox.md describes `%s`", (name) => {
    expect(text).toContain(`\`${name}\``);
  });

  it.each(Object.keys(faultParameters.shape))("the fault parameter %s is documented", (name) => {
    expect(text).toMatch(new RegExp(`[*_]${name}[*_]`));
  });

  it("every kind is documented", () => {
    const kinds = /- `kind`: `([^`]+)`/.exec(text)?.[1]?.split(/\s+/);
    expect(kinds).toEqual([...resourceKinds]);
  });

  it("the rules shown in the page are valid", () => {
    const example = /```json\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
    expect(faultRules.parse(JSON.parse(example))).toHaveLength(3);
  });
});
