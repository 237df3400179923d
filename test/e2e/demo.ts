/**
 * `npm run demo`: mirrors a catalogue, exports it, and syncs again after changes. Out: the steps on the terminal, CSV and
 * JSON files in `./demo/`, and exit code 1 if a claim is false. The service is a sandbox in this process; all other steps
 * run the `armoire` program.
 */
import { rmSync } from "node:fs";
import Database from "better-sqlite3";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { claimAllIsExported, claimAllIsHeld } from "./support/demo-claims.ts";
import { startStory } from "./support/demo-story.ts";
import { program } from "./support/program.ts";
import { compareTruths, readTruth } from "./support/sandbox-truth.ts";

const exportFolder = "demo";
const mirrorCopy = "demo-mirror.sqlite";
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
  /** As counted by the service. */
  const takeCountedRequests = (): number => {
    const counted = sandbox.log().filter((entry) => entry.counted).length;
    sandbox.clearLog();
    return counted;
  };

  story.heading("A sandbox is the service");
  const { brands, models, sizes } = sandbox.totals;
  story.print(
    `It has ${brands} brands, ${models} models and ${sizes} sizes, and grants ${allowance} requests a day.`,
  );
  story.command(`export ARMOIRE_BASE_URL=${sandbox.url}`);

  story.heading("The first sync fetches everything");
  const before = readTruth(sandbox);
  await run("sync");
  const firstCost = takeCountedRequests();
  story.claim(
    `The service counted ${firstCost} requests: one per resource. The root is free.`,
    firstCost,
    before.size - 1,
  );

  story.heading("What the mirror holds");
  await run("status");
  await claimAllIsHeld(story, armoire, before);

  story.heading("The export");
  await run("export", "--out", exportFolder);
  await claimAllIsExported(story, exportFolder, before);

  story.heading("The catalogue changes");
  sandbox.advance({ changes: 6, additions: 3, removals: 2, moves: 1 });
  const after = readTruth(sandbox);
  const { added, changed, removed } = compareTruths(before, after);
  story.print(`${changed} resources changed, ${added} are new and ${removed} are gone.`);

  story.heading("The second sync spends requests on changes only");
  await run("sync");
  const secondCost = takeCountedRequests();
  // Lists show removed resources; a removed one is requested itself only if they do not prove it.
  story.claim(
    `The service counted ${secondCost} requests: at most one per changed, new or removed resource.`,
    secondCost <= added + changed + removed,
    true,
  );
  await claimAllIsHeld(story, armoire, after);

  story.heading("The changes");
  await run(
    "query",
    "select kind, name, revision from recently_changed join known using (kind, href) where run = 2 and kind <> 'size'",
  );
  await run("query", "select full_name, gone_at from model where gone_at is not null");

  story.heading("Every body and row is verified");
  await run("mirror", "check");

  story.heading("Counted requests");
  story.print(`first sync   ${firstCost.toString().padStart(5)}`);
  story.print(`second sync  ${secondCost.toString().padStart(5)}`);
  story.print(
    `\nThe exported files are in ./${exportFolder}/. \`npx armoire sandbox\` starts such a service for you.`,
  );
  await copyMirror((await armoire.readJson<{ mirror: string }>("status")).mirror, mirrorCopy);
  story.print(`To look at the mirror in a browser: npx armoire serve --mirror ${mirrorCopy} --open`);
} finally {
  await folder[Symbol.asyncDispose]();
}
/** Replaces an earlier copy. */
async function copyMirror(mirror: string, place: string): Promise<void> {
  rmSync(place, { force: true });
  const database = new Database(mirror, { readonly: true });
  try {
    await database.backup(place);
  } finally {
    database.close();
  }
}

if (story.wrongClaims > 0) process.exitCode = 1;
