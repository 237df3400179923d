/**
 * Every regular expression of the program takes linear time, whatever the text. `recheck` decides it: from an automaton, or
 * by counting the steps of attacks where the expression looks around. Text of the service reaches most of them.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { check } from "recheck";
import { parseAst } from "rolldown/parseAst";
import { expect, it } from "vitest";
import { isThorough } from "../support/thorough.ts";

const root = join(import.meta.dirname, "../..");

/**
 * Calls of `RegExp`, whose patterns are no literals: alternatives that begin with different characters, without nesting; in
 * `rewrite-urls.ts`, each part ends at a quotation mark, where the next match can begin.
 */
const constructed = [
  "jobs/bullmq/dashboard/redis-snapshot.ts",
  "jobs/bullmq/queue-names.ts",
  "src/mirror/search/search-words.ts",
  "src/platform/text/fuzzy-names.ts",
  "src/web/api/rewrite-urls.ts",
];

interface Found {
  readonly pattern: string;
  readonly flags: string;
  readonly files: Set<string>;
}

const literals = new Map<string, Found>();
const constructing = new Set<string>();
for (const file of globSync("{schema,src,jobs,exports}/**/*.ts", { cwd: root }).sort())
  collect(parseAst(readFileSync(join(root, file), "utf8"), { lang: "ts" }), file);

function collect(node: unknown, file: string): void {
  if (typeof node !== "object" || node === null) return;
  if ("regex" in node && node.regex !== null) {
    const { pattern, flags } = node.regex as { pattern: string; flags: string };
    const found = literals.get(`${flags} ${pattern}`) ?? { pattern, flags, files: new Set() };
    literals.set(`${flags} ${pattern}`, found);
    found.files.add(file);
    return;
  }
  if ("callee" in node && isNamed(node.callee, "RegExp")) constructing.add(file);
  for (const part of Object.values(node)) collect(part, file);
}

function isNamed(node: unknown, name: string): boolean {
  return typeof node === "object" && node !== null && "name" in node && node.name === name;
}

/** Attacks on these take a minute in all, so only the thorough suite makes them. */
const looksAround = (pattern: string) => /\(\?<?[=!]|\\b/.test(pattern);

it("every regular expression takes linear time", async () => {
  const checked = [...literals.values()].filter(({ pattern }) => isThorough || !looksAround(pattern));
  expect(checked.length).toBeGreaterThan(100);
  expect((await slowOnes(checked)).join("\n")).toBe("");
});

it("regular expressions made from parts are in known files", () => {
  expect([...constructing].sort()).toEqual(constructed);
});

async function slowOnes(expressions: readonly Found[]): Promise<string[]> {
  const slow: string[] = [];
  for (const { pattern, flags, files } of expressions) {
    const search = () => check(pattern, flags, { timeout: 60_000 });
    // Attacks are made at random, and one in thousands seems to grow where none does: a second search must find one, too.
    const result = (await search()).status === "safe" ? null : await search();
    if (result === null || result.status === "safe") continue;
    const growth = result.status === "vulnerable" ? result.complexity.summary : result.status;
    slow.push(`/${pattern}/${flags} is ${growth}: ${[...files].join(", ")}`);
  }
  return slow;
}
