import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Random } from "../../src/sandbox/random.ts";
import { isThorough } from "../support/thorough.ts";
import { commands } from "./commands.ts";
import { copyWithBug, seededBugs } from "./support/seeded-bugs.ts";
import { buildShim } from "./support/shim.ts";
import { tortureCommand } from "./torture-command.ts";

const shim = buildShim();
/** All of them take minutes: `npm run thorough` looks for each, at points of its own. */
const seed = isThorough ? Date.now() % 2 ** 31 : 1;
const sought = isThorough ? seededBugs : [new Random(seed).pick(seededBugs)];

/** Not searched for secrets: the sandbox's sources have them. */
async function copyOfSources(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "armoire-sources-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

it("every text that a seeded bug replaces is in the sources", async () => {
  await using folder = await copyOfSources();
  for (const [n, bug] of seededBugs.entries()) copyWithBug(join(folder.path, String(n)), bug);
  expect(seededBugs.length).toBeGreaterThanOrEqual(12);
});

it.each(sought.map((bug) => [bug.name, bug] as const))(
  `a few directed points find that %s (seed ${seed})`,
  { timeout: 600_000 },
  async (_name, bug) => {
    if (shim.path === null) {
      process.stdout.write(`No torture here: ${shim.why}.\n`);
      return;
    }
    const command = commands.find(({ name }) => name === bug.command);
    if (command === undefined) throw new Error(`there is no command ${bug.command}`);
    await using folder = await copyOfSources();
    copyWithBug(folder.path, bug);
    const { mode, only, points } = bug;
    const { problems } = await tortureCommand(command, {
      ...{ shim: shim.path, seed, points, modes: [mode], only, endsAtProblem: true, sources: folder.path },
    });
    expect(problems).not.toEqual([]);
  },
);
