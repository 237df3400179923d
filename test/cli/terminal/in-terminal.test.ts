/** Times, colors and widths in a real terminal. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { displayWidth } from "../../../src/cli/terminal/table/display-width.ts";
import { runArmoire } from "../../support/run-armoire.ts";
import { type Rig, startRig } from "../../sync/support/rig.ts";
import { showInTerminal } from "../support/terminal.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 2, models: 3, sizes: 4, allowance: 100 });
  await rig.sync();
});
afterAll(() => rig[Symbol.asyncDispose]());

const kathmandu = { TZ: "Asia/Kathmandu" };
const inTerminal = async (args: readonly string[], env = {}) =>
  await showInTerminal([...args, "--mirror", rig.file], { env: { ...kathmandu, ...env } });
const checked = ["query", "select max(checked_at) as at from brand", "--quiet"];

/** 5 hours and 45 minutes later. @param at such as `2026-11-24 01:47:12 UTC` */
function inKathmandu(at: string): string {
  const shifted = new Date(Date.parse(`${at.slice(0, 19).replace(" ", "T")}Z`) + 345 * 60_000);
  return shifted.toISOString().slice(0, 19).replace("T", " ");
}

it("a terminal shows local times, and with --utc times in UTC", async () => {
  const utc = await inTerminal(["runs", "--utc"]);
  const [started = ""] = /\d{4}-\S+ \d\d:\d\d:\d\d UTC/.exec(utc) ?? [];
  expect(started).not.toBe("");
  const local = await inTerminal(["runs"]);
  expect(local).toContain(`${inKathmandu(started)}  `);
  expect(local).not.toContain("UTC");
  const { stdout } = await runArmoire(["runs", "--mirror", rig.file], { env: kathmandu });
  expect(stdout).toContain(started);
});

it("a terminal shows the stored times of a query in short, and other outputs show them whole", async () => {
  const local = await inTerminal(checked);
  const [shown = ""] = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/.exec(local) ?? [];
  const { stdout } = await runArmoire([...checked, "--mirror", rig.file], { env: kathmandu });
  const [whole = ""] = /\d{4}-\d\d-\d\dT\S+Z/.exec(stdout) ?? [];
  expect(shown).toBe(inKathmandu(whole));
});

it("a terminal shows the booleans of a question as yes and no, and other outputs as 1 and 0", async () => {
  const { stdout: size } = await runArmoire([
    "query",
    "select size from size limit 1",
    "--format",
    "ndjson",
    "--mirror",
    rig.file,
  ]);
  const question = ["query", "@models-in-size", "--size", JSON.parse(size).size, "--quiet"];
  expect(await inTerminal(question)).toMatch(/ (yes|no) {2}/);
  const { stdout } = await runArmoire([...question, "--format", "ndjson", "--mirror", rig.file]);
  expect(stdout).toMatch(/"is_discontinued":[01],/);
});

it("an empty answer in a terminal is followed by a line that says so", async () => {
  expect(await inTerminal(["query", "select name from brand where 0"])).toContain("No rows.");
});

it("a diff in a terminal has added resources in green, unless NO_COLOR is set", async () => {
  const diff = ["runs", "show", "1"];
  expect(await inTerminal(diff)).toContain("\u001b[32m  added     ");
  expect(await inTerminal(diff, { NO_COLOR: "1" })).not.toContain("\u001b");
});

it("a diff that is longer than the screen is shown in the pager", async () => {
  const options = { rows: 10, env: { PAGER: "sed -n 1p" } };
  const shown = await showInTerminal(["runs", "show", "1", "--mirror", rig.file], options);
  expect(shown).toMatch(/\nObserved [^\n]*\r\n$/);
});

it("an error in a terminal is wrapped at its width", async () => {
  const lines = (await inTerminal(["show", "brand", "nothing like it"])).trimEnd().split("\r\n");
  expect(lines.filter((line) => displayWidth(line) > 80)).toEqual([]);
  expect(lines.join(" ")).toContain("A key is a URL, slugs such as brand/model/size, or a name;");
  expect(lines).toHaveLength(3);
});

it("a search in a terminal shows names with the keys that `show` takes", async () => {
  const [heading = "", , found = ""] = (await inTerminal(["search", "a", "--kind", "model"])).split("\r\n");
  expect(heading).toMatch(/^kind +name +bra_count +key$/);
  const key = found.split(/ {2,}/).at(-1) ?? "";
  expect(key).toMatch(/^[^/]+\/[^/]+$/);
  expect(await inTerminal(["show", "model", key])).toMatch(/^brand /);
});

it("the status fits a terminal, and names lists and what they list apart", async () => {
  const [, ...lines] = (await inTerminal(["status"])).split("\r\n");
  expect(lines.filter((line) => displayWidth(line) > 80 && line.includes(" "))).toEqual([]);
  expect(lines.join("\n")).toMatch(/^list of models +\d+ .*\nmodel +\d+ /m);
});

it("the plan of a complete mirror fits a terminal, and has no chart", async () => {
  const [mirror = "", ...lines] = (await inTerminal(["plan"])).split("\r\n");
  expect(mirror).toContain(rig.file);
  expect(lines.filter((line) => displayWidth(line) > 80)).toEqual([]);
  expect(lines.join("\n")).toMatch(/^next +why +key or URL$/m);
  expect(lines.join("\n")).not.toMatch(/█|Time until/);
});
