/** The pages say what the program does: every command, option, exit code and dependency, and nothing that is not there. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandLinePage } from "../docs/generate-command-line.ts";
import { questionsPage } from "../docs/generate-questions.ts";
import { schemaPage } from "../docs/generate-schema.ts";
import { findQuestion, listQuestions } from "../src/query/questions/questions.ts";
import { findUsageError, loadCommandLine } from "./support/command-line.ts";
import { anchorOf, linksIn, sectionsOf, shellCommandsIn } from "./support/markdown.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const pages = globSync(["*.md", "docs/**/*.md"], { cwd: root }).sort();
const manifest: { version: string } & Record<"scripts" | "dependencies" | "devDependencies", object> =
  JSON.parse(read("package.json"));
const program = await loadCommandLine();
const questionOptions = listQuestions().flatMap(({ options }) => options.map(({ name }) => `--${name}`));

describe.each(pages)("%s", (page) => {
  const markdown = read(page);
  const commands = shellCommandsIn(markdown);

  it("calls armoire as it can be called", async () => {
    const calls = commands
      .map((words) => (words[0] === "npx" ? words.slice(1) : words))
      .filter(([name]) => name === "armoire");
    for (const [, ...args] of calls) {
      expect({ args, error: await findUsageError(program, args) }).toEqual({ args, error: null });
    }
  });

  it("asks questions that there are, with options that they take", () => {
    for (const words of commands) {
      const asked = words.find((word, index) => word.startsWith("@") && words[index - 1] === "query");
      if (asked === undefined) continue;
      const taken = findQuestion(asked.slice(1)).options.map(({ name }) => `--${name}`);
      const given = words.filter((word) => questionOptions.includes(word));
      expect(taken).toEqual(expect.arrayContaining(given));
    }
  });

  it("names npm scripts and files that there are", () => {
    const scripts = [...markdown.matchAll(/\bnpm run (?:--\S+ )*([a-z]+)/g)].flatMap((match) =>
      match.slice(1),
    );
    expect(scripts.filter((script) => !Object.hasOwn(manifest.scripts, script))).toEqual([]);
    const files = commands.flat().filter((word) => /^[\w./-]+\.ts$/.test(word));
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it("links to what there is", () => {
    const broken = linksIn(markdown)
      .filter((link) => !/^https?:/.test(link))
      .filter((link) => !isThere(page, link));
    expect(broken).toEqual([]);
  });
});

it("every script of package.json starts a file that there is", () => {
  const files = Object.values(manifest.scripts).flatMap(
    (script: string) => script.match(/^node (\S+)/)?.[1] ?? [],
  );
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

it("every direct dependency has its reason, and nothing else has one", () => {
  const reasons = sectionsOf(read("docs/decisions/0002-dependencies.md")).flatMap(({ text }) =>
    [...text.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = ""]) => cell.replaceAll("`", "").split(", ")),
  );
  const direct = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)];
  expect(reasons.sort()).toEqual(direct.sort());
});

it("docs/schema.md is what `npm run docs` writes", async () => {
  expect(read("docs/schema.md")).toBe(await schemaPage());
});

it("docs/command-line.md is what `npm run docs` writes", async () => {
  expect(read("docs/command-line.md")).toBe(await commandLinePage());
});

it("docs/questions.md is what `npm run docs` writes", () => {
  expect(read("docs/questions.md")).toBe(questionsPage());
});

it("the changelog tells of this version", () => {
  const headings = sectionsOf(read("CHANGELOG.md")).map(({ heading }) => heading.split(" ")[0]);
  expect(headings).toContain(manifest.version);
});

it(".ci/run runs the test command of the README", () => {
  expect(read("README.md")).toContain("```sh\nnpm ci && npm test\n```");
  expect(read(".ci/run")).toMatch(/^npm ci && npm test$/m);
});

function isThere(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || sectionsOf(read(target)).some(({ heading }) => anchorOf(heading) === anchor);
}

it.each(pages)("%s names no file or folder of ours that is not there", (page) => {
  const named = read(page).matchAll(/`((?:src|jobs|schema|exports|test|docs|bench)\/[\w./-]*)`/g);
  expect([...named].map(([, path = ""]) => path).filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
