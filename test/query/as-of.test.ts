/**
 * Every reading command as of a run gives what it gave at the end of that run: the results are recorded when each run
 * closes, and compared in the end.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exportMirror } from "../../exports/export-mirror.ts";
import type { PackageContents } from "../../exports/package/descriptor.ts";
import type { Point } from "../../src/mirror/points/point.ts";
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { readCoverage } from "../../src/mirror/runs/coverage.ts";
import { showResource } from "../../src/query/show.ts";
import { readPastStatus } from "../../src/query/status/status.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { folderState } from "../exports/support/folder-state.ts";
import { crawl, type MirrorRig, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { worldOfTruth } from "../mirror/support/world.ts";
import { collectRows } from "./support/collect-rows.ts";
import { runQueryHere } from "./support/in-this-process.ts";

const sql = `select m.href, m.name, b.name as brand, m.gone_at from model m left join brand b on b.href = m.brand_href order by 1`;

const labelSql = "select * from size_label order by href, system";

let rig: MirrorRig;
const recorded = new Map<number, Awaited<ReturnType<typeof readAll>>>();

beforeAll(async () => {
  await using sandbox = await startSandbox({ brands: 5, models: 12, sizes: 30, pageSize: 4, seed: 5 });
  rig = await startMirrorRig(sandbox.url);
  const mirror = await rig.write();
  // The first runs end before everything is held; in the fourth, nothing changes.
  for (const maxBatches of [3, 5, 1000, 1000, 1000, 1000]) {
    const world = worldOfTruth(sandbox.truth({ optional: true }));
    const { runId } = crawl(mirror, world, { maxBatches, approve: true });
    recorded.set(runId, await readAll(`then-${runId}`));
    if (runId !== 3) sandbox.advance({ changes: 8, additions: 2, removals: 2, returns: runId > 4 ? 2 : 0 });
  }
});
afterAll(() => rig[Symbol.asyncDispose]());

/** @param point default: the present */
async function readAll(folder: string, point?: Point) {
  const out = join(rig.folder, folder);
  const asOf = point && { asOf: point };
  const contents = await exportMirror({
    ...{
      file: rig.file,
      out,
      formats: ["csv", "json"],
      tables: [],
      toolVersion: "test",
      ...asOf,
    },
  });
  const { "datapackage.json": _, ...dataFiles } = await folderState(out);
  const { rows } = await runQueryHere({ file: rig.file, sql, ...asOf });
  const labels = await runQueryHere({ file: rig.file, sql: labelSql, ...asOf });
  const reader = openMirrorReader(rig.file, point);
  try {
    const shown = reader.db
      .prepare<[], string>("select href from size order by href")
      .pluck()
      .all()
      .map((href) => showResource(reader, "size", href))
      // Of the latest check only.
      .map(
        ({
          fields: { checked_at: _checkedAt, ...fields },
          source: { checkedAt: _, gone, ...source },
          ...more
        }) => ({
          ...{ ...more, fields, source, gone: gone && { run: gone.run, at: gone.at } },
        }),
      );
    const { asOf: _asOf, ...status } = readPastStatus(reader);
    return {
      contents,
      dataFiles,
      rows: await collectRows(rows),
      labels: await collectRows(labels.rows),
      shown,
      status,
      coverage: readCoverage(reader),
    };
  } finally {
    reader.close();
  }
}

const sumsOf = ({ files }: PackageContents) =>
  files.map(({ path, rows, sha256 }) => ({ path, rows, sha256 }));

describe.each([1, 2, 3, 4, 5, 6])("as of run %i", (run) => {
  let past: Awaited<ReturnType<typeof readAll>>;
  const then = () => {
    const found = recorded.get(run);
    if (found === undefined) throw new Error(`run ${run} was not kept`);
    return found;
  };
  beforeAll(async () => {
    past = await readAll(`past-${run}`, { kind: "run", run });
  });

  it("an export as of a run has the same bytes as one made at the end of that run", () => {
    expect(past.dataFiles).toEqual(then().dataFiles);
    expect(sumsOf(past.contents)).toEqual(sumsOf(then().contents));
  });

  it("an export's descriptor names the requested run and the run that made the state", () => {
    expect(past.contents.state).toEqual({ ...then().contents.state, asOf: run });
  });

  it("queries and shown sizes as of a run are those of the end of that run", () => {
    expect(past.rows).toEqual(then().rows);
    expect(past.shown).toEqual(then().shown);
  });

  it("status and coverage as of a run are those of the end of that run", () => {
    expect(past.status).toEqual(then().status);
    expect(past.coverage).toEqual(then().coverage);
  });
});

it("all runs differ, except the one in which nothing changed", () => {
  const states = [...recorded.values()].map(({ dataFiles }) => JSON.stringify(dataFiles));
  expect(states[3]).toBe(states[2]);
  expect(new Set(states).size).toBe(5);
  expect(recorded.get(4)?.contents.state.run).toBe(3);
});

it("a query as of an unknown run fails before it starts", async () => {
  await expect(runQueryHere({ file: rig.file, sql, asOf: { kind: "run", run: 99 } })).rejects.toMatchObject({
    code: "no-such-run",
  });
});
