/** The pages match the program: every command, option, exit code, dependency, file and link. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandLinePage } from "../docs/generate-command-line.ts";
import { manualPage } from "../docs/generate-manual.ts";
import { questionsPage } from "../docs/generate-questions.ts";
import { schemaPage } from "../docs/generate-schema.ts";
import { nameOf } from "../src/cli/terminal/help.ts";
import { findQuestion, listQuestions } from "../src/query/questions/questions.ts";
import { findUsageError, leavesOf, loadCommandLine } from "./support/command-line.ts";
import { anchorOf, linksIn, sectionsOf, shellCommandsIn, withoutFences } from "./support/markdown.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const pages = globSync(["*.md", "llms.txt", "docs/**/*.md", "bench/*.md"], { cwd: root }).sort();
/** Of lines of prose; tables, links and code blocks may be longer. */
const maxColumns = 100;
const manifest: { version: string } & Record<"scripts" | "dependencies" | "devDependencies", object> =
  JSON.parse(read("package.json"));
const program = await loadCommandLine();
const questionOptions = listQuestions().flatMap(({ options }) => options.map(({ name }) => `--${name}`));

describe.each(pages)("%s", (page) => {
  const markdown = read(page);
  const commands = shellCommandsIn(markdown);

  it("a page shows only valid calls of armoire", async () => {
    const calls = commands
      .map((call) => (call[0] === "npx" ? call.slice(1) : call))
      .filter(([name]) => name === "armoire");
    for (const [, ...args] of calls) {
      expect({ args, error: await findUsageError(program, args) }).toEqual({ args, error: null });
    }
  });

  it("a page shows only known questions with their own options", () => {
    for (const call of commands) {
      const question = call.find((word, index) => word.startsWith("@") && call[index - 1] === "query");
      if (question === undefined) continue;
      const allowed = findQuestion(question.slice(1)).options.map(({ name }) => `--${name}`);
      const used = call.filter((word) => questionOptions.includes(word));
      expect(allowed).toEqual(expect.arrayContaining(used));
    }
  });

  it("a page names only existing npm scripts and files in commands", () => {
    const scripts = [...markdown.matchAll(/\bnpm run (?:--\S+ )*([a-z]+)/g)].flatMap((match) =>
      match.slice(1),
    );
    expect(scripts.filter((script) => !Object.hasOwn(manifest.scripts, script))).toEqual([]);
    const files = commands.flat().filter((word) => /^[\w./-]+\.ts$/.test(word));
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  it("a page has no broken link", () => {
    const broken = linksIn(markdown)
      .filter((link) => !/^https?:/.test(link))
      .filter((link) => !isLinkTarget(page, link));
    expect(broken).toEqual([]);
  });

  it("a page names only existing files and folders of the project", () => {
    const named = markdown.matchAll(/`((?:src|jobs|schema|exports|test|docs|bench)\/[\w./-]*)`/g);
    expect([...named].map(([, path = ""]) => path).filter((path) => !existsSync(join(root, path)))).toEqual(
      [],
    );
  });

  it(`a page wraps prose at ${maxColumns} columns`, () => {
    const prose = withoutFences(markdown).split("\n");
    const isExempt = (line: string) => line.startsWith("|") || /\]\(|https?:/.test(line);
    expect(prose.filter((line) => line.length > maxColumns && !isExempt(line))).toEqual([]);
  });
});

it("the page for beginners has no shell syntax, no crontab, and no hash in its first four sections", () => {
  const page = read("docs/back-up-your-data.md");
  const blocks = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block);
  expect(blocks.length).toBeGreaterThan(5);
  // Quotation marks around a list of cron are the only signs.
  expect(blocks.filter((block) => /[$`|<>?~;&]/.test(block))).toEqual([]);
  expect(page).not.toMatch(/[0-9a-f]{64}|crontab|\$\(/);
  expect(page.split("## 5.")[0]).not.toMatch(/root hash/i);
  expect(page).toMatch(/armoire schedule install/);
  expect(page.replace(/\s+/g, " ")).toContain("On macOS and Windows it is not tested yet");
});

it("every script of package.json starts an existing file", () => {
  const files = Object.values(manifest.scripts).flatMap(
    (script: string) => script.match(/^node (\S+)/)?.[1] ?? [],
  );
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

it("decision 2 gives a reason for exactly the direct dependencies", () => {
  const reasons = sectionsOf(read("docs/decisions/0002-dependencies.md")).flatMap(({ text }) =>
    [...text.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = ""]) => cell.replaceAll("`", "").split(", ")),
  );
  const direct = [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)];
  expect(reasons.sort()).toEqual(direct.sort());
});

it("docs/command-line.md is what `npm run docs` writes", async () => {
  expect(read("docs/command-line.md")).toBe(await commandLinePage());
});

it("docs/schema.md is what `npm run docs` writes", async () => {
  expect(read("docs/schema.md")).toBe(await schemaPage());
});

it("docs/questions.md is what `npm run docs` writes", () => {
  expect(read("docs/questions.md")).toBe(questionsPage());
});

it("the manual page names every command and option, in escaped text", async () => {
  const page = await manualPage();
  const leaves = program.commands.flatMap(leavesOf);
  const names = leaves.map((command) => `.SS "${nameOf(command).replaceAll("-", "\\-")}"`);
  const options = leaves.flatMap((command) => command.options.map(({ long }) => `${long}`));
  const plain = page.replaceAll("\\-", "-");
  expect(names.filter((name) => !page.includes(`${name}\n`))).toEqual([]);
  expect(options.filter((option) => !plain.includes(option))).toEqual([]);
  // A text at the beginning of a line must not be taken for a macro, and man(7) needs ASCII.
  const macros = page.split("\n").filter((line) => /^[.']/.test(line));
  expect(macros.filter((line) => !/^\.(TH|SH|SS|PP|TP|B|nf|fi|nh|ad)\b/.test(line))).toEqual([]);
  expect(page).toMatch(/^[\n -~]*$/);
});

it("the changelog has a section on this version", () => {
  const headings = sectionsOf(read("CHANGELOG.md")).map(({ heading }) => heading.split(" ")[0]);
  expect(headings).toContain(manifest.version);
});

it(".ci/run runs the test command of the README", () => {
  expect(read("README.md")).toContain("```sh\nnpm ci && npm test\n```");
  expect(read(".ci/run")).toMatch(/^npm ci && npm test$/m);
});

function isLinkTarget(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || sectionsOf(read(target)).some(({ heading }) => anchorOf(heading) === anchor);
}
