/**
 * `npm run demo`: mirrors a catalogue, exports it, and mirrors it again after it has changed. Prints each step, writes CSV and
 * JSON files to `./demo/`, and exits with 1 if a claim is false. The service is a sandbox in this process; all else runs the
 * `armoire` program.
 */
import { startSandbox } from "../../src/index.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { claimAllIsExported, claimAllIsHeld } from "./support/demo-claims.ts";
import { startStory } from "./support/demo-story.ts";
import { program } from "./support/program.ts";
import { compareTruths, readTruth } from "./support/sandbox-truth.ts";

const exportFolder = "demo";
const allowance = 10_000;

const story = startStory(process.stdout);
const folder = await temporaryFolder();
const dataDir = folder.path;
try {
  const catalogue = { seed: 11, brands: 24, models: 140, sizes: 900 };
  await using sandbox = await startSandbox({ ...catalogue, allowance, latencyMillis: 1 });
  const armoire = program({ ARMOIRE_DATA_DIR: dataDir, ARMOIRE_BASE_URL: sandbox.url });
  const run = async (...args: string[]): Promise<void> => {
    story.command(`armoire ${args.map((arg) => (/\s/.test(arg) ? `"${arg}"` : arg)).join(" ")}`);
    await armoire.run(...args);
  };
  /** The service's own count of requests. */
  const takeCountedRequests = (): number => {
    const counted = sandbox.log().filter((entry) => entry.counted).length;
    sandbox.clearLog();
    return counted;
  };

  story.heading("A sandbox plays the service");
  const { brands, models, sizes } = sandbox.totals;
  story.print(
    `It has ${brands} brands, ${models} models, ${sizes} sizes, and grants ${allowance} requests a day.`,
  );
  story.command(`export ARMOIRE_BASE_URL=${sandbox.url}`);

  story.heading("The first sync fetches everything");
  const before = readTruth(sandbox);
  await run("sync");
  const firstCost = takeCountedRequests();
  story.claim(
    `The service counted ${firstCost}: one a resource, its root for free.`,
    firstCost,
    before.size - 1,
  );

  story.heading("What the mirror holds");
  await run("status");
  await claimAllIsHeld(story, armoire, before);

  story.heading("Files for others");
  await run("export", "--out", exportFolder);
  await claimAllIsExported(story, exportFolder, before);

  story.heading("The world moves on");
  sandbox.advance({ changes: 6, additions: 3, removals: 2, moves: 1 });
  const after = readTruth(sandbox);
  const { added, changed, removed } = compareTruths(before, after);
  story.print(`At the service, ${changed} resources changed, ${added} are new and ${removed} are gone.`);

  story.heading("The second sync pays only for that");
  await run("sync");
  const secondCost = takeCountedRequests();
  // Lists prove most deletions; other missing resources are requested themselves.
  story.claim(
    `The service counted ${secondCost}: no more than what changed, is new or is gone.`,
    secondCost <= added + changed + removed,
    true,
  );
  await claimAllIsHeld(story, armoire, after);

  story.heading("What changed");
  await run(
    "query",
    "select kind, name, revision from recently_changed join known using (kind, href) where run = 2 and kind <> 'size'",
  );
  await run("query", "select full_name, gone_at from model where gone_at is not null");

  story.heading("Every body and every row, proved");
  await run("mirror", "check");

  story.heading("Counted requests");
  story.print(`first sync   ${firstCost.toString().padStart(5)}`);
  story.print(`second sync  ${secondCost.toString().padStart(5)}`);
  story.print(`\nThe files are in ./${exportFolder}/. To try more: npx armoire sandbox`);
} finally {
  await folder[Symbol.asyncDispose]();
}
if (story.wrongClaims > 0) process.exitCode = 1;
