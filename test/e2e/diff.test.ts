/** `armoire diff` and `armoire runs show`: their output for a sandbox that has changed, and refused input. */
import { copyFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readMirror } from "../../src/mirror/reader.ts";
import type { ShownKind } from "../../src/query/keys/find-by-key.ts";
import { findResource } from "../../src/query/keys/resolve-key.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { sync } from "../../src/sync/sync.ts";
import { readCsv } from "../support/read-csv.ts";
import { callArmoire, temporaryFolder } from "../support/run-armoire.ts";
import { expectRefusal } from "./support/expect-refusal.ts";
import { json, output } from "./support/output.ts";

interface Diff {
  readonly from: { readonly run: number };
  readonly to: { readonly run: number };
  readonly changes: readonly {
    kind: string;
    key: string | null;
    href: string;
    brand: string | null;
    model: string | null;
    change: string;
    fields?: readonly { field: string }[];
  }[];
  readonly totals: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let mirror: string;
let before: ReadonlyMap<string, string>;
let after: ReadonlyMap<string, string>;
const at = (name: string) => join(folder.path, name);
const diff = (...args: readonly string[]) => json<Diff>("diff", "--mirror", mirror, ...args);

beforeAll(async () => {
  folder = await temporaryFolder();
  sandbox = await startSandbox({ brands: 6, models: 20, sizes: 50, seed: 5 });
  mirror = at("catalogue.sqlite");
  await sync({ file: mirror, baseUrl: sandbox.url });
  await output("export", "--out", at("first"), "--mirror", mirror);
  await output("export", "--out", at("csv"), "--format", "csv", "--mirror", mirror);
  await output("export", "--out", at("parquet"), "--format", "parquet", "--mirror", mirror);
  await output("export", "--out", at("ndjson"), "--format", "ndjson", "--mirror", mirror);
  await output("export", "--out", at("brands"), "--table", "brand", "--mirror", mirror);
  before = readEntities();
  await using otherService = await startSandbox({ brands: 1, models: 1, sizes: 1 });
  await sync({ file: at("other.sqlite"), baseUrl: otherService.url });
  sandbox.advance({ changes: 8, additions: 3, removals: 2, moves: 1 });
  after = readEntities();
  await sync({ file: mirror, baseUrl: sandbox.url, approve: true });
});
afterAll(async () => {
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

/** URL to body. */
function readEntities(): Map<string, string> {
  const entities = [...sandbox.truth()].filter(({ kind }) => ["brand", "model", "size"].includes(kind));
  return new Map(entities.map(({ url, body }) => [url, JSON.stringify(body.body)]));
}

describe("compared states", () => {
  it("a line on stderr says that two points are of one run, such as days after the last one", async () => {
    const args = ["diff", "--mirror", mirror, "--from", "2100-01-01", "--to", "2100-01-02"];
    const { exitCode, stdout, stderr } = await callArmoire(args);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("No differences")]);
    expect(stderr).toContain("Both points are of run 2, so nothing can differ.\n");
    expect((await callArmoire([...args, "--quiet"])).stderr).toBe("");
    expect((await callArmoire(["diff", "--mirror", mirror])).stderr).not.toContain("nothing can differ");
  });

  it("a diff compares the latest two runs by default, and lists the real changes", async () => {
    const { from, to, changes } = await diff();
    expect([from.run, to.run]).toEqual([1, 2]);
    const hrefs = (...changeTypes: readonly string[]) =>
      changes.filter(({ change }) => changeTypes.includes(change)).map(({ href }) => href);
    expect(hrefs("added").sort()).toEqual([...after.keys()].filter((url) => !before.has(url)).sort());
    expect(hrefs("removed").sort()).toEqual([...before.keys()].filter((url) => !after.has(url)).sort());
    const changed = [...after].filter(([url, body]) => before.has(url) && before.get(url) !== body);
    expect(hrefs("changed", "touched")).toEqual(expect.arrayContaining(changed.map(([url]) => url)));
  });

  it("a diff has totals that match its changes", async () => {
    const { changes, totals } = await diff();
    const counted: Record<string, Record<string, number>> = {};
    for (const { kind, change } of changes) {
      counted[kind] ??= {};
      counted[kind][change] = (counted[kind][change] ?? 0) + 1;
    }
    expect(totals).toEqual(counted);
  });

  it("--totals gives the totals without the changes", async () => {
    const { changes, ...about } = await diff();
    expect(changes).not.toEqual([]);
    expect(await diff("--totals")).toEqual(about);
    const text = (await output("diff", "--mirror", mirror)).split("\n\n");
    const totals = (await output("diff", "--mirror", mirror, "--totals")).split("\n\n");
    expect(totals.at(-1)).toBe(text.at(-1));
    expect(totals.length).toBe(2);
    const { exitCode, stderr } = await callArmoire([
      "diff",
      "--mirror",
      mirror,
      "--totals",
      "--format",
      "csv",
    ]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("--totals cannot be printed as csv.")]);
  });

  it("a diff shows removed resources as added when reversed", async () => {
    const forwards = await diff("--from", "1", "--to", "2");
    const backwards = await diff("--from", "2", "--to", "1");
    expect(backwards.changes.map(({ href }) => href)).toEqual(forwards.changes.map(({ href }) => href));
    const inverse: Readonly<Record<string, string>> = { added: "removed", removed: "revived" };
    expect(backwards.changes.map(({ change }) => change)).toEqual(
      forwards.changes.map(({ change }) => inverse[change] ?? change),
    );
  });

  it.each(["first", "csv", "ndjson"])(
    "a diff of an export (%s) and the mirror equals the diff of the two runs",
    async (name) => {
      const ofRuns = await diff("--from", "1", "--to", "latest");
      const ofExport = await diff("--from", at(name), "--to", "2");
      expect(ofExport.totals).toEqual(ofRuns.totals);
      const unchanged = await diff("--from", at(name), "--to", "1");
      expect(unchanged.changes).toEqual([]);
    },
  );

  it("a diff compares two mirrors or two exports without a mirror of its own", async () => {
    const sameExport = await output(
      "diff",
      "--from",
      at("first"),
      "--to",
      at("csv"),
      "--data-dir",
      at("none"),
    );
    expect(sameExport).toMatch(/^Observed from the export .*\nNo differences\.\n$/);
    const sameMirror = await output("diff", "--from", mirror, "--to", mirror, "--exit-code", "--quiet");
    expect(sameMirror).toContain("No differences.");
  });

  it("a diff of two exports has the keys and names of the diff of their runs", async () => {
    await output("export", "--out", at("second"), "--mirror", mirror);
    const of = async (from: string, to: string) =>
      (await diff("--from", from, "--to", to)).changes.map((one) => [
        one.href,
        one.key,
        one.brand,
        one.model,
      ]);
    const ofRuns = await of("1", "2");
    expect(await of(at("csv"), at("second"))).toEqual(ofRuns);
    const backwards = await of(at("second"), at("csv"));
    expect(backwards.map(([, key]) => key)).toEqual(ofRuns.map(([, key]) => key));
    const [, key, brand, model] = ofRuns.find(([, , , model]) => model !== null) ?? [];
    const modelKey = key?.split("/").slice(0, 2).join("/") ?? "";
    const exports = ["--from", at("csv"), "--to", at("second"), "--data-dir", at("none")];
    expect(await output("diff", ...exports, "--model", modelKey)).toContain(`${brand} › ${model} › `);
  });

  it("a diff names tables that an export left out, and reports no removals for them", async () => {
    const { stdout, stderr } = await callArmoire([
      "diff",
      "--from",
      at("brands"),
      "--mirror",
      mirror,
      "--json",
    ]);
    expect(stderr).toBe("Not compared, because only one of the two has it: model, size.\n");
    expect(Object.keys((JSON.parse(stdout) as Diff).totals)).toEqual(["brand"]);
  });

  it("a diff is limited to given kinds, brands and fields", async () => {
    const all = await diff();
    const models = await diff("--kind", "model");
    expect(models.changes).toEqual(all.changes.filter(({ kind }) => kind === "model"));
    const counts = await diff("--field", "bra_count");
    expect(
      counts.changes.flatMap(({ fields }) => fields ?? []).every(({ field }) => field === "bra_count"),
    ).toBe(true);
    const ignoring = await diff("--ignore", "bra_count", "--ignore", "last_modified_at");
    const fields = new Set(
      ignoring.changes.flatMap((change) => (change.fields ?? []).map(({ field }) => field)),
    );
    expect([fields.has("bra_count"), fields.has("last_modified_at")]).toEqual([false, false]);
    expect(ignoring.changes.some(({ change }) => change === "touched")).toBe(false);
    const slugs = JSON.parse(
      await output("query", "select slug from brand order by 1", "--json", "--mirror", mirror),
    ) as { slug: string }[];
    const ofBrands = await Promise.all(slugs.map(({ slug }) => diff("--brand", slug)));
    expect(ofBrands.flatMap(({ changes }) => changes)).toHaveLength(all.changes.length);
    const model = all.changes.find(({ kind }) => kind === "size")?.key?.replace(/\/[^/]*$/, "") ?? "";
    const ofModel = await diff("--model", model);
    expect(ofModel.changes).toEqual(all.changes.filter(({ key }) => `${key}/`.startsWith(`${model}/`)));
  });
});

describe("formats", () => {
  it("a diff is printed as an uncut table with totals at the end", async () => {
    const table = await output("diff", "--mirror", mirror);
    const [head, ...lines] = table.trimEnd().split("\n");
    expect(head).toMatch(/^Observed from run 1 \(.* UTC\) to run 2 \(.* UTC\):$/);
    expect(table).not.toContain("…");
    expect(lines.at(-1)).toMatch(/^size: (\d+ [a-z]+( \(only last_modified_at\))?(, |$))+/);
  });

  it("a diff has the same changes as NDJSON and CSV", async () => {
    const { changes } = await diff();
    const lines = (await output("diff", "--mirror", mirror, "--format", "ndjson")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(changes);
    const [columns, ...rows] = readCsv(await output("diff", "--mirror", mirror, "--format", "csv"));
    expect(columns?.map(({ text }) => text)).toEqual([
      "kind",
      "key",
      "href",
      "brand",
      "model",
      "name",
      "change",
      "field",
      "before",
      "after",
    ]);
    expect([...new Set(rows.map(([, , href]) => href?.text))]).toEqual(changes.map(({ href }) => href));
  });

  it("each change of a model has the name of its brand, and of a size also that of its model", async () => {
    const { changes } = await diff();
    const names = JSON.parse(
      await output(
        "query",
        "select m.href, b.name as brand, null as model from model m join brand b on b.href = m.brand_href " +
          "union all select s.href, b.name, m.full_name from size s join model m on m.href = s.model_href join brand b on b.href = s.brand_href " +
          "union all select href, null, null from brand",
        "--json",
        ...["--mirror", mirror],
      ),
    ) as Record<"href" | "brand" | "model", string | null>[];
    expect(new Set(changes.map(({ kind }) => kind))).toEqual(new Set(["brand", "model", "size"]));
    for (const { href, brand, model } of changes)
      expect({ href, brand, model }).toEqual(names.find((row) => row.href === href));
  });

  it("each change has the key that `show` takes, against a run and against an export", async () => {
    const changes = [...(await diff()).changes, ...(await diff("--from", at("csv"), "--to", "2")).changes];
    expect(changes.length).toBeGreaterThan(20);
    const found = readMirror(mirror, (reader) =>
      changes.map(({ kind, key }) => findResource(reader, kind as ShownKind, String(key)).href),
    );
    expect(found).toEqual(changes.map(({ href }) => href));
  });

  it("diff exits with 20 for differences under --exit-code only", async () => {
    const differing = await callArmoire(["diff", "--mirror", mirror, "--exit-code"]);
    expect(differing.exitCode).toBe(20);
    const same = await callArmoire(["diff", "--mirror", mirror, "--from", "2", "--exit-code"]);
    expect(same.exitCode).toBe(0);
  });
});

it("--since lists changes reported by the service, by its own times", async () => {
  const latest =
    "select max(last_modified_at) as time from (select last_modified_at from brand union all select last_modified_at from model)";
  const [{ time } = { time: "" }] = JSON.parse(
    await output("query", latest, "--json", "--mirror", mirror),
  ) as { time: string }[];
  const reported = await json<Diff>("diff", "--since", time, "--mirror", mirror);
  expect(reported).toMatchObject({ notion: "reported", since: time, to: { run: 2 } });
  expect(reported.changes.length).toBeGreaterThan(0);
  expect(reported.changes.every(({ change }) => change === "reported")).toBe(true);
  const all = await json<Diff>("diff", "--since", "1970", "--kind", "brand", "--mirror", mirror);
  expect(all.totals).toEqual({ brand: { reported: all.changes.length } });
  expect(await output("diff", "--since", "-1d", "--quiet", "--mirror", mirror)).toMatch(
    /^Reported .* since 2\d{3}-/,
  );
  expect(await output("diff", "--since", "2999", "--mirror", mirror)).toMatch(
    /^Reported by the service .*\nNo changes\.\n$/,
  );
});

it("--since without reported changes points at those that the mirror observed", async () => {
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const args = ["diff", "--since", since, "--kind", "model", "--mirror", mirror];
  expect(await callArmoire(args)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining("No changes."),
    stderr: `The mirror has observed changes since then: \`armoire changes --since ${since}\` lists them.\n`,
  });
  expect((await callArmoire(["diff", "--since", "2999-01-01", "--mirror", mirror])).stderr).toBe("");
});

it("--since counts the resources without a time of the service", async () => {
  const copy = join(dirname(mirror), "without-times.sqlite");
  copyFileSync(mirror, copy);
  const db = new Database(copy);
  db.exec(`update _brand set last_modified_at = null where id in (select id from _brand order by id limit 2);
    update _model set last_modified_at = 'soon' where id = (select min(id) from _model)`);
  db.close();
  const args = ["diff", "--since", "2999", "--mirror", copy];
  const { stderr, stdout, exitCode } = await callArmoire([...args, "--json"]);
  expect({ stderr, exitCode }).toEqual({
    stderr:
      "3 resources have no last_modified_at and may have changed; without --since, `armoire diff` compares them.\n",
    exitCode: 0,
  });
  expect(JSON.parse(stdout)).toMatchObject({ notion: "reported", withoutTime: 3, changes: [] });
  const brands = await callArmoire([...args, "--kind", "brand"]);
  expect(brands.stderr).toMatch(/^2 resources have no last_modified_at/);
  expect((await callArmoire([...args, "--quiet"])).stderr).toBe("");
});

describe("runs show RUN", () => {
  it("runs show prints the record of a run and the changes since the run before", async () => {
    const shown = await json<Diff & { run: { id: number } }>("runs", "show", "2", "--mirror", mirror);
    expect(shown.run).toMatchObject({ id: 2, stopped: null });
    expect(shown.changes).toEqual((await diff()).changes);
    const printed = await output("runs", "show", "2", "--mirror", mirror);
    expect(printed).toMatch(/^run +started +result .*\n─.*\n +2 .*\n\nObserved from run 1 /);
  });

  it("runs show defaults to the latest run, and accepts any point in time", async () => {
    const latest = await output("runs", "show", "--mirror", mirror);
    expect(latest).toBe(await output("runs", "show", "2", "--mirror", mirror));
    expect(latest).toBe(await output("runs", "show", "latest", "--mirror", mirror));
    const first = await output("runs", "show", "latest-1", "--mirror", mirror);
    expect(first).toBe(await output("runs", "show", "1", "--mirror", mirror));
  });

  it("runs show says for the first run that there is no earlier one", async () => {
    const first = await output("runs", "show", "1", "--mirror", mirror);
    expect(first).toMatch(/\n\nObserved by run 1 \(.* UTC\), with no earlier run to compare with:\n/);
  });

  it("runs show shows everything of the first run as added", async () => {
    const { totals } = await json<Diff>("runs", "show", "1", "--mirror", mirror);
    expect(totals).toEqual({ brand: { added: 6 }, model: { added: 20 }, size: { added: 50 } });
  });
});

describe("invalid input", () => {
  it.concurrent.each<readonly [name: string, args: readonly string[], exitCode: number, message: RegExp]>([
    [
      "a point that is none",
      ["diff", "--from", "nowhere"],
      2,
      /"nowhere" is neither a point in time nor a file or folder/,
    ],
    ["a run that is not there", ["diff", "--to", "9"], 1, /There is no run 9\.\nAvailable runs: from run 1 /],
    ["nothing before the first run", ["diff", "--to", "1"], 1, /Run 1 is the first of .*\nGive --from /],
    [
      "an unknown kind",
      ["diff", "--kind", "cup"],
      2,
      /no kind "cup" to compare\.\nKnown: brand, model, size\./,
    ],
    [
      "a field by the name of its table",
      ["diff", "--field", "model_picture"],
      2,
      /no field "model_picture" to compare\.\nThe service calls this field manufacturer_stock_pictures/,
    ],
    ["an unknown field", ["diff", "--field", "colour"], 2, /no field "colour" to compare/],
    ["an unknown brand", ["diff", "--brand", "Nobody"], 2, /There is no brand called "Nobody" to compare/],
    ["an unknown format", ["diff", "--format", "xml"], 2, /Allowed choices are table, csv, json, ndjson/],
    ["a time that is none", ["diff", "--since", "soon"], 2, /"soon" is not a time\.\nUse /],
    ["a run for a time", ["diff", "--since", "1"], 2, /Expected a time, got a run: "1"/],
    [
      "both notions at once",
      ["diff", "--since", "2026", "--from", "1"],
      2,
      /cannot be used with option '--from/,
    ],
    ["an export alone", ["diff", "--to", "first"], 2, /There is nothing to compare first with/],
    ["an export in Parquet", ["diff", "--from", "parquet"], 1, /parquet has no table in CSV, JSON or NDJSON/],
    [
      "a folder that is no export",
      ["diff", "--from", "."],
      1,
      /\. is not an export of Armoire: it has no datapackage\.json\.\n.* datapackage\.json, and a file for each/,
    ],
    [
      "a mirror of another service",
      ["diff", "--from", "other.sqlite"],
      2,
      /different services, http.*\n.* base URL/,
    ],
    ["a file that is no mirror", ["diff", "--from", "notes.txt"], 1, /This is not a SQLite file/],
    ["a run to show that is none", ["runs", "show", "x"], 2, /"x" is not a point in time/],
    ["a run to show that is not there", ["runs", "show", "9"], 1, /There is no run 9/],
  ])("invalid input is refused: %s", async (_case, args, exitCode, message) => {
    writeFileSync(at("notes.txt"), "not a mirror, and long enough to have a header\n".repeat(20));
    const result = await callArmoire([...args, "--mirror", mirror], { cwd: folder.path });
    expectRefusal(result, exitCode, message);
  });
});
