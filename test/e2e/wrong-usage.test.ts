import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requiredOptionsOf } from "../../src/cli/program.ts";
import { findUsageError, leavesOf, loadCommandLine } from "../support/command-line.ts";
import { callArmoire, temporaryFolder } from "../support/run-armoire.ts";
import { expectRefusal } from "./support/expect-refusal.ts";
import { createFixture, type Fixture } from "./support/fixture.ts";
import { expectRefused, type RefusedCase } from "./support/refused-case.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe("unknown flags", () => {
  it.concurrent.each([
    ...[
      "sync",
      "plan",
      "status",
      "runs",
      "show",
      "history",
      "query",
      "export --out o",
      "doctor",
      "sandbox",
      "mirror",
    ],
    ...["mirror check", "mirror rebuild", "mirror compact", "runs list", "runs show 1", "diff"],
    ...["account", "account add ada", "account list", "account remove ada"],
  ])("an unknown flag is wrong usage of %s", async (command) => {
    const args = [...command.split(" "), "--nonsense"];
    await expectRefused(fixture, [() => args, 2, /unknown option '--nonsense'/]);
  });
});

it.concurrent.each([
  ["diff --form x", "diff"],
  ["runs show 1 --jsn", "runs show"],
  ["mirror check now", "mirror check"],
  ["query @bands --brnd x", "query"],
  ["export", "export create"],
])("the error of `%s` names `%s --help`", async (command, explained) => {
  await expectRefused(fixture, [() => command.split(" "), 2, new RegExp(`\`armoire ${explained} --help\``)]);
});

it.each([
  ["export --outt o", "unknown option '--outt'\n(Did you mean --out?)"],
  ["schedule add daily --crn x -- sync", "unknown option '--crn'\n(Did you mean --cron?)"],
  ["export --table brand", "required option '--out <path>' not specified"],
])("`%s` is refused with: %s", async (command, message) => {
  const { stderr, exitCode } = await callArmoire(command.split(" "));
  expect(exitCode).toBe(2);
  expect(stderr).toContain(message);
});

it.concurrent.each([
  ["runs show -7d", true],
  ["search -onyx", true],
  ["diff --form x", false],
])(
  "the error of `%s` explains how to write a value that starts with a dash: %s",
  async (command, isExpected) => {
    const { stderr } = await callArmoire([...command.split(" "), "--mirror", fixture.mirror]);
    expect(stderr.includes("\nIf it is a value, write -- before it.\n")).toBe(isExpected);
  },
);

it.each([
  ["select nme from brand", true],
  ["select 1 from brnd", true],
  ["selekt 1", false],
  ["select max(", false],
])("the error of `%s` mentions `armoire tables`: %s", async (sql, isExpected) => {
  const { stderr } = await callArmoire(["query", sql, "--mirror", fixture.mirror]);
  expect(stderr.includes("`armoire tables")).toBe(isExpected);
});

describe("conflicting formats", () => {
  it.concurrent.each(["show brand x", "history brand x", "search x", "query @gone", "diff"])(
    "two formats together are wrong usage of %s",
    async (command) => {
      const args = [...command.split(" "), "--json", "--format", "csv"];
      await expectRefused(fixture, [() => args, 2, /--json and --format csv cannot be given together/]);
    },
  );
});

describe("invalid values", () => {
  const cases: Readonly<Record<string, RefusedCase>> = {
    "an unknown command": [() => ["snyc"], 2, /unknown command 'snyc'[\s\S]*Did you mean sync/],
    "a base URL that is none": [
      () => ["sync", "--base-url", "api.example.org"],
      2,
      /base URL \(command line\)/,
    ],
    "a base URL of another scheme": [
      () => ["sync", "--base-url", "ftp://x/"],
      2,
      /not an http or https address/,
    ],
    "a base URL from the environment": [
      () => ["sync"],
      2,
      /base URL \(ARMOIRE_BASE_URL\)/,
      () => ({ ARMOIRE_BASE_URL: "x" }),
    ],
    "a service name that looks like a token": [
      () => ["status", "--service-name", "sk_live_4ec39hqlyjwdarjtt1zdp7dc"],
      2,
      /^(?!.*4ec39)armoire: The service name \(command line\) looks like a token/s,
    ],
    "a service name with a space": [() => ["status", "--service-name", "a b"], 2, /not a word of letters/],
    "a data directory without a name": [
      () => ["status", "--data-dir", ""],
      2,
      /--data-dir has an empty value/,
    ],
    "a budget in words": [() => ["sync", "--budget", "ten"], 2, /must be a whole number/],
    "a reserve in words": [() => ["sync", "--reserve", "some"], 2, /must be a whole number/],
    "a budget below nothing": [() => ["sync", "--budget=-1"], 2, /must be a whole number/],
    "no concurrency at all": [() => ["sync", "--concurrency", "0"], 2, /must be from 1 to 256/],
    "a rule that keeps nothing": [() => ["mirror", "compact", "--keep-daily", "0"], 2, /must be at least 1/],
    "a statement that would write": [
      (f) => ["query", "delete from brand", "--mirror", f.mirror],
      2,
      /Only statements that read and return rows.*\nUse SELECT/,
    ],
    "the catalogue where there is none beside": [
      (f) => ["query", "select * from catalogue.model", "--mirror", f.mirror],
      2,
      /no such table: catalogue\.model\.\n.*once `armoire sync --base-url URL` has mirrored it/,
    ],
    "a preview of pruning nothing": [
      () => ["mirror", "compact", "--dry-run"],
      2,
      /Without a --keep option nothing is pruned/,
    ],
    "a limit in words": [() => ["runs", "--limit", "all"], 2, /must be a whole number/],
    "a limit of nothing": [() => ["search", "x", "--limit", "0"], 2, /must be at least 1/],
    "a question's limit of nothing": [
      (f) => ["query", "@gone", "--limit", "0", "--mirror", f.mirror],
      2,
      /The value of --limit is invalid: "0"\.\nIt must be a whole number, at least 1/,
    ],
    "an unknown kind": [() => ["show", "shoe", "x"], 2, /Allowed choices are brand, model, size/],
    "a missing key": [() => ["show", "brand"], 2, /The key of the brand is missing\.\nGive its URL or name/],
    "a body in a format": [() => ["show", "brand", "x", "--body", "--json"], 2, /--body has no format/],
    "a missing statement": [() => ["query"], 2, /The statement is missing/],
    "two statements": [() => ["query", "select 1", "--file", "q.sql"], 2, /a statement and --file/],
    "a statement in no file": [
      () => ["query", "--file", "no-such.sql"],
      2,
      /can be read from no-such\.sql: ENOENT/,
    ],
    "a statement in a file that is not text": [
      (f) => ["query", "--file", f.mirror],
      2,
      /can be read from .*: it is not UTF-8/,
    ],
    "a parameter without a value": [
      (f) => ["query", "select :a, :b", "-p", "a=1", "--mirror", f.mirror],
      2,
      /These parameters have no value: :b\./,
    ],
    "a value without a parameter": [
      (f) => ["query", "select :a", "-p", "a=1", "-p", "b=2", "--mirror", f.mirror],
      2,
      /The statement has no such parameters: :b\./,
    ],
    "a parameter without a name": [() => ["query", "select 1", "-p", "=1"], 2, /must be NAME=VALUE/],
    "an unknown question": [
      (f) => ["query", "@top-brand", "--mirror", f.mirror],
      2,
      /no question @top-brand\.\nDid you mean @top-brands/,
    ],
    "an unknown question to list": [() => ["query", "--list", "@zzz"], 2, /no question @zzz/],
    "an unknown option of a question": [
      () => ["query", "@bands", "--brnd", "x"],
      2,
      /unknown option '--brnd'[\s\S]*armoire query --list/,
    ],
    "an option that a question does not take": [
      (f) => ["query", "@bands", "--since", "2026-01-31", "--mirror", f.mirror],
      2,
      /@bands has no option --since\.\nIts options: \[--brand\] \[--system\]/,
    ],
    "a question without what it needs": [
      (f) => ["query", "@brand-sizes", "--mirror", f.mirror],
      2,
      /@brand-sizes needs --brand/,
    ],
    "a parameter for a question": [() => ["query", "@bands", "-p", "brand=x"], 2, /-p is for SQL/],
    "an option of questions for SQL": [
      () => ["query", "select 1", "--brand", "x"],
      2,
      /--brand is for questions, not for SQL\.\nIn SQL, write :brand and give -p brand=VALUE/,
    ],
    "too many arguments": [() => ["status", "now"], 2, /too many arguments/],
    "an export to nowhere": [() => ["export"], 2, /required option '--out <path>' not specified/],
    "an unknown export format": [
      (f) => ["export", "--out", "o", "--format", "xls", "--mirror", f.mirror],
      2,
      /Unknown export format "xls"/,
    ],
    "an unknown table": [
      (f) => ["export", "--out", "o", "--table", "bras", "--mirror", f.mirror],
      2,
      /no table "bras"/,
    ],
    "an unknown preset": [() => ["sandbox", "--preset", "huge"], 2, /Allowed choices are small, real/],
    "a port that cannot be": [() => ["sandbox", "--port", "99999"], 2, /port/],
    "rules that are not there": [
      () => ["sandbox", "--faults", "no-such.json"],
      2,
      /cannot be read: no-such\.json/,
    ],
    "a statement that is no SQL": [(f) => ["query", "selekt 1", "--mirror", f.mirror], 2, /syntax error/],
    "a statement that writes": [
      (f) => ["query", "delete from _brand", "--mirror", f.mirror],
      2,
      /Only statements that read/,
    ],
  };
  it.concurrent.each(Object.entries(cases))("an invalid value is wrong usage: %s", (_case, refused) =>
    expectRefused(fixture, refused),
  );
});

describe.each([["sync"], ["plan"]])("an invalid option of %s is wrong usage", (command) => {
  const cases: readonly (readonly [flag: string, value: string, message: RegExp])[] = [
    ["--depth", "bras", /Allowed choices are brands, models, sizes/],
    ["--mode", "lazy", /Allowed choices are incremental, verify, full/],
    ["--order", "random", /Allowed choices are value, breadth, depth/],
    ["--max-free-checks", "many", /must be a whole number/],
    ["--max-free-checks", "-1", /must be a whole number|argument missing/],
    ["--skip-fresher-than", "3", /must be a duration such as 90m, 2h, 3d or 4w/],
    ["--skip-fresher-than", "3 days", /must be a duration/],
    ["--max-staleness", "1.5d", /must be a duration/],
    ["--max-staleness", "", /must be a duration/],
  ];
  it.concurrent.each(cases)("%s=%j is wrong usage", (flag, value, message) =>
    expectRefused(fixture, [(f) => [command, `${flag}=${value}`, "--base-url", f.sandbox.url], 2, message]),
  );
});

/** Values that are valid beside an empty one, by option; an option that others need. */
const companions: Readonly<Record<string, readonly string[]>> = { "dashboard-host": ["--dashboard", "0"] };

it("an empty value of any option of any command is wrong usage, and no command runs", async () => {
  const program = await loadCommandLine();
  let tried = 0;
  for (const leaf of program.commands.flatMap(leavesOf)) {
    const path = leaf.parent === program ? [leaf.name()] : [leaf.parent?.name() ?? "", leaf.name()];
    const operands = leaf.registeredArguments.map(({ argChoices }) => argChoices?.[0] ?? "x");
    const mandatory = requiredOptionsOf(leaf).map(({ long }) => `${long}=x`);
    for (const option of leaf.options.filter(({ required }) => required)) {
      const name = option.long?.slice(2) ?? "";
      const others = [
        ...mandatory.filter((other) => !other.startsWith(`--${name}=`)),
        ...(companions[name] ?? []),
      ];
      const args = [...path, ...others, `--${name}=`, ...operands];
      const { stderr, exitCode } = await callArmoire(args);
      expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 2, stderr: expect.stringMatching(/./) });
      tried++;
    }
  }
  expect(tried).toBeGreaterThan(100);
});

it("an empty listening address is refused, not taken for all addresses", () =>
  expectRefused(fixture, [
    () => ["worker", "--dashboard", "0", "--dashboard-host", ""],
    2,
    /^armoire: --dashboard-host has an empty value\.\nGive a value, or leave the option out\.\n$/,
  ]));

it.each([["--mirror", "x.sqlite"], ["--account", "ada"], ["--service-name", "acme"], ["--utc"]])(
  "a worker refuses %s, which it has no use for, and its help does not list it",
  async (...given) => {
    const refusal = /^armoire: `armoire worker` has no use for --[a-z-]+\.\nLeave it out/;
    await expectRefused(fixture, [() => ["worker", ...given], 2, refusal]);
    expect((await callArmoire(["worker", "--help"])).stdout).not.toMatch(RegExp(`^ +${given[0]} `, "m"));
  },
);

it("an empty value in a command to schedule is refused when it is added", () =>
  expectRefused(fixture, [
    (f) => [
      "schedule",
      "add",
      "x",
      "--cron",
      "0 6 * * *",
      "--data-dir",
      f.newPath(),
      "--",
      "export",
      "--out=",
    ],
    2,
    /--out has an empty value/,
  ]));

it("a wrong command to schedule names the help of that command", () =>
  expectRefused(fixture, [
    () => ["schedule", "add", "x", "--cron", "0 6 * * *", "--", "snapshot", "create"],
    2,
    /'--to <.*\n`armoire snapshot create --help` explains the usage\.\n$/,
  ]));

it("plan has no --require-complete", () =>
  expectRefused(fixture, [() => ["plan", "--require-complete"], 2, /unknown option/]));

describe("a base URL with a secret is refused without showing it", () => {
  it.each([
    ["https://me:hunter2@api.example.org/", "contains a user name or password"],
    ["https://hunter2@api.example.org/", "contains a user name or password"],
    ["https://api.example.org/?token=hunter2", "contains a query or fragment (? or #)"],
    ["https://api.example.org/#hunter2", "contains a query or fragment (? or #)"],
    ["hunter2:api.example.org", "is not an http or https address"],
  ])("%s", async (baseUrl, problem) => {
    const config = fixture.newPath();
    writeFileSync(config, JSON.stringify({ baseUrl }));
    const schedule = ["schedule", "add", "x", "--cron", "0 6 * * *", "--data-dir", fixture.newPath(), "--"];
    for (const [from, args, env] of [
      ["command line", ["sync", "--base-url", baseUrl], {}],
      ["command line", ["account", "add", "ada", "--base-url", baseUrl], {}],
      ["ARMOIRE_BASE_URL", ["status"], { ARMOIRE_BASE_URL: baseUrl }],
      [config, ["status", "--config", config], {}],
    ] as const) {
      const result = await callArmoire(args, { env });
      expectRefusal(result, 2, /^armoire: The base URL .*\n/);
      expect(result.stderr).toContain(`The base URL (${from}) ${problem}.\n`);
      expect(result.stderr).not.toContain("hunter2");
    }
    const scheduled = await callArmoire([...schedule, "sync", "--base-url", baseUrl]);
    expectRefusal(scheduled, 2, /The base URL|contain a secret/);
    expect(scheduled.stderr).not.toContain("hunter2");
  });
});

it("a call without a command prints the help as an error", async () => {
  const env = { ARMOIRE_BASE_URL: "https://api.example/" };
  const { stdout, stderr, exitCode } = await callArmoire([], { env });
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
  expect(stderr).toMatch(/^Usage: armoire/);
});

it("a call without a command, settings, a mirror or an account explains the first steps", async () => {
  await using folder = await temporaryFolder();
  const call = (env: Readonly<Record<string, string>> = {}) =>
    callArmoire([], { env: { ARMOIRE_DATA_DIR: folder.path, ...env } });
  const { stdout, stderr, exitCode } = await call({ npm_command: "exec" });
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
  expect(stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(10);
  const steps = [...stderr.matchAll(/^ {2}npx armoire (.*?)(?: {2,}\(.*)?$/gm)].map(([, step = ""]) => step);
  expect(steps.length).toBe(3);
  const commandLine = await loadCommandLine();
  for (const step of steps)
    expect([step, await findUsageError(commandLine, step.split(" "))]).toEqual([step, null]);

  mkdirSync(join(folder.path, "there-0/"));
  writeFileSync(join(folder.path, "there-0/catalogue.sqlite"), "");
  expect((await call()).stderr).toMatch(/^Usage: armoire/);
});
