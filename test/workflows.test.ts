/** The workflows, as far as can be known without GitHub: they parse, and what they call exists. */
import { accessSync, constants, existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

const root = join(import.meta.dirname, "..");
const manifest: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);

const step = z.strictObject({
  name: z.string().optional(),
  if: z.string().optional(),
  env: z.record(z.string(), z.string()).optional(),
  uses: z.string().optional(),
  with: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  run: z.string().optional(),
});

const permissions = z.record(z.string(), z.enum(["read", "write"]));

const workflow = z.strictObject({
  name: z.string(),
  on: z.partialRecord(z.enum(["push", "pull_request", "workflow_call"]), z.unknown()),
  permissions: z.strictObject({ contents: z.literal("read") }),
  defaults: z.strictObject({ run: z.strictObject({ shell: z.literal("bash") }) }).optional(),
  jobs: z.record(
    z.string(),
    z.union([
      z.strictObject({ uses: z.string() }),
      z.strictObject({
        needs: z.string().optional(),
        strategy: z.unknown().optional(),
        "runs-on": z.string(),
        "timeout-minutes": z.number(),
        permissions: permissions.optional(),
        steps: z.array(step),
      }),
    ]),
  ),
});

describe.each(globSync(".github/workflows/*", { cwd: root }).sort())("%s", (path) => {
  const text = readFileSync(join(root, path), "utf8");
  const { jobs } = workflow.parse(parse(text));
  const steps = Object.values(jobs).flatMap((job) => ("steps" in job ? job.steps : []));

  it("a workflow has jobs whose steps either run a command or use an action of a fixed version", () => {
    expect(steps.filter(({ run, uses }) => (run === undefined) === (uses === undefined))).toEqual([]);
    const used = Object.values(jobs).flatMap((job) =>
      "steps" in job ? job.steps.flatMap(({ uses = [] }) => uses) : [job.uses],
    );
    expect(used.length).toBeGreaterThan(0);
    for (const action of used)
      if (action.startsWith("./")) expect(existsSync(join(root, action))).toBe(true);
      else expect(action).toMatch(/^(actions|docker)\/[\w-]+@v\d+$/);
  });

  it("a workflow waits only for its own jobs", () => {
    for (const job of Object.values(jobs))
      if ("needs" in job && job.needs !== undefined) expect(Object.keys(jobs)).toContain(job.needs);
  });

  it("a workflow calls only scripts that exist", () => {
    const commands = steps.flatMap(({ run = [] }) => run);
    const scripts = commands.flatMap((command) => command.match(/(?<=\bnpm run )[\w-]+/g) ?? []);
    expect(scripts.filter((script) => !Object.hasOwn(manifest.scripts, script))).toEqual([]);
    for (const file of commands.filter((command) => /^[\w./-]+$/.test(command)))
      accessSync(join(root, file), constants.X_OK);
  });
});

it("the tests run on three systems by .ci/run, and the package is tried with each supported Node.js", () => {
  const check = readFileSync(join(root, ".github/workflows/check.yml"), "utf8");
  expect(check.match(/ubuntu|macos|windows/g)).toEqual(
    expect.arrayContaining(["ubuntu", "macos", "windows"]),
  );
  expect(check).toContain("run: .ci/run\n");
  expect(check).toContain('node: [22.19.0, "24", "26"]');
});
