/** A sample of what `npm run torture` does in full. */
import { expect, it } from "vitest";
import { Random } from "../../src/sandbox/random.ts";
import { isThorough, tries } from "../support/thorough.ts";
import { commands } from "./commands.ts";
import { buildShim } from "./support/shim.ts";
import { tortureCommand } from "./torture-command.ts";

const shim = buildShim();
/** The suite tries the same points each time; `npm run thorough` and `npm run torture` look for new ones. */
const seed = isThorough ? Date.now() % 2 ** 31 : 1;
const chosen = isThorough ? commands : [new Random(seed).pick(commands)];

it.each(chosen.map((command) => [command.name, command] as const))(
  `%s survives kills, failing file operations and power cuts (seed ${seed})`,
  { timeout: 1_800_000 },
  async (_name, command) => {
    // Without the shim there is nothing to test.
    if (shim.path === null) {
      process.stdout.write(`No torture here: ${shim.why}.\n`);
      return;
    }
    const { problems } = await tortureCommand(command, { shim: shim.path, seed, points: tries(8, 60) });
    expect(problems).toEqual([]);
  },
);

it("a published folder is whole for its followers whenever publishing is killed", async () => {
  const command = commands.find(({ name }) => name === "snapshot publish");
  if (shim.path === null || command === undefined) return;
  const { problems, tried } = await tortureCommand(command, {
    ...{ shim: shim.path, seed: 1, points: null, modes: ["kill"] },
    // Where names in the folder change. `npm run torture` kills at every operation.
    only: ({ op, path }) => (op === "rename" || op === "unlink") && path.includes("/public/"),
  });
  expect(tried.kill).toBeGreaterThanOrEqual(5);
  expect(problems).toEqual([]);
});
