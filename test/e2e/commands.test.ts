import { statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPackageContents } from "../../exports/package/descriptor.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import type { SyncReport } from "../../src/sync/report.ts";
import { callArmoire, runArmoire } from "../support/run-armoire.ts";
import { createFixture, type Fixture } from "./support/fixture.ts";
import { output, json as outputAsJson } from "./support/output.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

function firstBrand() {
  const [brand] = [...fixture.sandbox.truth()].filter(({ kind }) => kind === "brand");
  return { url: brand?.url ?? "", fields: brand?.body.body ?? {}, links: brand?.body.links ?? {} };
}

describe("help", () => {
  it.concurrent.each([
    ...[
      "sync",
      "plan",
      "status",
      "runs",
      "show",
      "history",
      "query",
      "diff",
      "export",
      "mirror",
      "doctor",
      "sandbox",
    ],
  ])("the help of %s has a description and examples", async (name) => {
    const help = await output(name, "--help");
    expect(help).toMatch(new RegExp(`^Usage: armoire ${name} `));
    expect(help).toMatch(new RegExp(`\nExamples:\n( {2}armoire ${name}.*\n)+`));
    for (const option of ["--data-dir", "--mirror", "--json", "--quiet"]) expect(help).toContain(option);
  });

  it.each(["--version", "-V", "-v", "version"])("%s prints the version", async (form) => {
    expect(await output(form)).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("--help lists every command; `help NAME` equals `NAME --help`", async () => {
    const [all, viaHelp, viaFlag] = await Promise.all([
      output("--help"),
      output("help", "runs"),
      output("runs", "--help"),
    ]);
    for (const name of ["sync", "plan", "status", "doctor"])
      expect(all).toMatch(new RegExp(`\n {2}${name} .* {2}\\w`));
    expect(viaHelp).toBe(viaFlag);
  });
});

describe("sync", () => {
  it("a sync prints a report, and with --json one object with all documented members", async () => {
    const settings = ["--data-dir", fixture.newPath(), "--base-url", fixture.sandbox.url];
    const text = await output("sync", ...settings, "--depth", "brands");
    expect(text).toMatch(/^Run 1: \d+ new, 0 changed, 0 unchanged, 0 gone in \d+\.\d s\.\n/);
    expect(text).toMatch(/Everything within --depth brands is up to date: .*catalogue\.sqlite\n$/);
    const report = await outputAsJson("sync", ...settings, "--depth", "models");
    expect(report).toEqual({
      run: 2,
      mirror: expect.stringMatching(/catalogue\.sqlite$/),
      complete: true,
      scope: { depth: "models", brands: [] },
      upToDate: true,
      stopped: null,
      requests: {
        ...{ sent: expect.any(Number), counted: expect.any(Number), notModified: expect.any(Number) },
        ...{ retried: 0, failed: 0 },
      },
      resources: {
        ...{ new: expect.any(Number), changed: 0, unchanged: expect.any(Number), gone: 0 },
        ...{ pending: 0, notChecked: 0, failed: 0, postponed: 0, skipped: 0 },
        ...{ awaitingApproval: 0, partial: 0, missingLinks: 0 },
      },
      drift: [],
      bulkDeletions: [],
      allowance: {
        ...{
          limit: 1_000_000,
          remaining: expect.any(Number),
          resetAt: expect.any(String),
          windowSeconds: 86_400,
        },
        checkPrice: "free",
      },
      resumeAt: null,
      seconds: expect.any(Number),
    });
    expect(await output("sync", ...settings, "--quiet")).toBe("");
  });

  it("a sync without changes sends only free checks", async () => {
    const settings = ["--data-dir", fixture.newPath(), "--base-url", fixture.sandbox.url, "--json"];
    await outputAsJson("sync", ...settings);
    const before = fixture.sandbox.log().length;
    const { requests } = (await outputAsJson("sync", ...settings)) as SyncReport;
    expect(requests).toMatchObject({ counted: 0, notModified: requests.sent });
    expect(
      fixture.sandbox
        .log()
        .slice(before)
        .every(({ conditional, counted }) => conditional && !counted),
    ).toBe(true);
  });

  it("a sync stopped by its budget exits with 0, or with 8 under --require-complete", async () => {
    const settings = ["--data-dir", fixture.newPath(), "--base-url", fixture.sandbox.url, "--budget", "3"];
    expect(await output("sync", ...settings)).toMatch(
      /The budget of this run is spent\. \d+ known to be due; the next sync continues here\.\n$/,
    );
    const { exitCode } = await callArmoire(["sync", ...settings, "--require-complete"]);
    expect(exitCode).toBe(8);
  });

  it("a sync with failures exits with 3 and names the command that lists them", async () => {
    fixture.sandbox.setFaults([{ kind: "brand", positions: [2], times: "always", fault: "not-json" }]);
    const settings = ["--data-dir", fixture.newPath(), "--base-url", fixture.sandbox.url];
    const { stdout, exitCode } = await callArmoire(["sync", ...settings]);
    const status = await output("status", ...settings);
    fixture.sandbox.setFaults([]);
    expect(exitCode).toBe(3);
    expect(stdout).toMatch(/1 failed; `armoire status` lists them/);
    expect(status).toMatch(/Failed, to be tried again by the next sync:\n {2}http.*\n {4}not-json: /);
  });
});

describe("reading commands", () => {
  it("status shows the mirror, its last run and its kinds", async () => {
    expect(await output("status", "--mirror", fixture.mirror)).toMatch(
      /^Mirror {5}.*\nService .*\nLast run {3}1, .*\nAllowance {2}.*\nForecast {3}The mirror holds the models of 100 % of all users' bras, and is complete\.\n\nkind /,
    );
    expect(await outputAsJson("status", "--mirror", fixture.mirror)).toMatchObject({
      baseUrl: fixture.sandbox.url,
      kinds: expect.arrayContaining([expect.objectContaining({ kind: "brand", known: 6, held: 6, gone: 0 })]),
      failures: [],
      lastRun: { id: 1, stopped: null },
    });
  });

  it("runs lists the runs of a mirror", async () => {
    expect(await output("runs", "--mirror", fixture.mirror)).toMatch(/^run +started .*\n─.*\n +1 .* done /);
    expect(await outputAsJson("runs", "--mirror", fixture.mirror)).toMatchObject([{ id: 1, stopped: null }]);
    expect(await outputAsJson("runs", "--mirror", fixture.mirror, "--limit", "1")).toHaveLength(1);
  });

  it("show --body prints the body of a resource as the service sent it", async () => {
    const { url } = firstBrand();
    const body = await output("show", "brand", url, "--body", "--mirror", fixture.mirror);
    expect(body).toBe(await (await fetch(url)).text());
  });

  it("show finds a resource by slug, name or URL, and shows all links", async () => {
    const { url, fields, links } = firstBrand();
    const shown = await outputAsJson("show", "brand", String(fields.slug), "--mirror", fixture.mirror);
    expect(shown).toMatchObject({
      kind: "brand",
      fields: { href: url, name: fields.name, bra_count: fields.bra_count },
    });
    expect(shown).toMatchObject({
      links: Object.entries(links)
        .map(([name, target]) => ({ name, url: target }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    });
    expect(
      await outputAsJson("show", "brand", String(fields.name).toUpperCase(), "--mirror", fixture.mirror),
    ).toEqual(shown);
    const text = await output("show", "brand", url, "--mirror", fixture.mirror);
    expect(text).toContain(`\nslug                   ${fields.slug}\n`);
    expect(text).toContain(`→ models               ${links.models}\n`);
  });

  it("show and history print the rows of a table", async () => {
    const { url, fields } = firstBrand();
    const read = (...args: readonly string[]) => output(...args, "--mirror", fixture.mirror);
    const sql = `select * from brand where href = '${url}'`;
    for (const format of ["csv", "ndjson"])
      expect(await read("show", "brand", url, "--format", format)).toBe(
        await read("query", sql, "--format", format),
      );
    expect(await read("show", "brand", url, "--format", "json")).toBe(
      await read("show", "brand", url, "--json"),
    );
    const [head, ...rows] = (await read("history", "brand", url, "--format", "csv")).split("\n");
    expect(head).toBe("kind,key,href,revision,run,at,change,field,before,after");
    expect(rows.find((row) => row.includes(",name,"))).toMatch(
      new RegExp(`^brand,${fields.slug},${url},1,1,[^,]+,added,name,,`),
    );
    const ndjson = await read("history", "brand", url, "--format", "ndjson");
    const name = JSON.stringify(fields.name);
    expect(ndjson.split("\n").filter((line) => line.includes('"field":"name"'))).toEqual([
      expect.stringMatching(/^\{"kind":"brand",.*"change":"added","field":"name","before":null,"after":/),
    ]);
    expect(ndjson).toContain(`"after":${name}}\n`);
    expect(await read("history", "brand", url, "--format", "json")).toBe(
      await read("history", "brand", url, "--json"),
    );
  });

  it("search prints a table and JSON, with and without results", async () => {
    const { url, fields } = firstBrand();
    const found = await outputAsJson(
      "search",
      String(fields.name),
      "--kind",
      "brand",
      "--mirror",
      fixture.mirror,
    );
    expect(found).toMatchObject([{ kind: "brand", name: fields.name, state: "held", href: url }]);
    const table = await output(
      "search",
      ...String(fields.name).split(" "),
      "--limit=1",
      "--quiet",
      "--mirror",
      fixture.mirror,
    );
    expect(table).toMatch(/^kind +name +code +brand +bra_count +state +key +href\n─.*\n\S.*\n$/);
    const nothing = await callArmoire(["search", "xyzzy", "--mirror", fixture.mirror, "--format", "ndjson"]);
    expect(nothing).toMatchObject({
      exitCode: 0,
      stdout: "",
      stderr: "No resource has all of these words.\n",
    });
    expect(await callArmoire(["search", "xyzzy", "--mirror", fixture.mirror])).toMatchObject({
      exitCode: 0,
      stdout: "No resource has all of these words.\n",
      stderr: "",
    });
  });

  it("a misspelt search shows the results of its correction in a table and says so", async () => {
    const name = String(firstBrand().fields.name);
    const misspelt = `${name.slice(0, 3)}q${name.slice(3)}`;
    const search = ["search", misspelt, "--kind", "brand", "--mirror", fixture.mirror];
    const corrected = await callArmoire(search);
    const { stdout } = await callArmoire(["search", name, "--kind", "brand", "--mirror", fixture.mirror]);
    expect(corrected).toMatchObject({ exitCode: 0, stdout });
    expect(stdout).toContain(name);
    expect(corrected.stderr).toMatch(
      new RegExp(`^No resource has all of these words\\.\nResults for "${name}" instead:\n`),
    );
    expect(await callArmoire([...search, "--quiet"])).toMatchObject({
      stdout: "No resource has all of these words.\n",
      stderr: "",
    });
    const json = await callArmoire([...search, "--json"]);
    expect(json).toMatchObject({ exitCode: 0, stdout: "[\n\n]\n" });
    expect(json.stderr).toContain(`Did you mean ${JSON.stringify(name)}`);
  });

  it("query prints a table, CSV and JSON", async () => {
    const sql = "select kind, known from coverage where kind = 'brand'";
    const query = (...more: readonly string[]) => output("query", sql, "--mirror", fixture.mirror, ...more);
    expect(await query()).toBe("kind   known\n─────  ─────\nbrand      6\n");
    expect(await query("--format", "csv")).toBe("kind,known\nbrand,6\n");
    expect(JSON.parse(await query("--json"))).toEqual([{ kind: "brand", known: 6 }]);
  });

  it("tables describes the tables, and the columns of one, without a mirror", async () => {
    const tables =
      await outputAsJson<{ table: string; key: string[]; columns: { name: string }[] }[]>("tables");
    const size = tables.find(({ table }) => table === "size");
    expect(size?.key).toEqual(["href"]);
    const columns = await outputAsJson<Record<string, unknown>[]>(
      ...["query", "select name from pragma_table_info('size')", "--mirror", fixture.mirror],
    );
    expect(size?.columns.map(({ name }) => ({ name }))).toEqual(columns);
    expect(await output("tables", "size")).toMatch(/\nbrand_href is the href of a row of brand\n$/);
    expect(tables.map(({ table }) => table)).toContain("model_current");
    expect(await output("tables", "model_current")).toMatch(
      /^model_current: The table model without .* gone\.\n/,
    );
    const { stderr, exitCode } = await callArmoire(["tables", "sizze"]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("Did you mean size")]);
  });

  it.each([
    ["select * from modell", "model"],
    ["select hreff from brand", "href"],
    ["select b.bra_cont from brand b", "bra_count"],
    ['select "hreff" from brand', "the column href"],
  ])("the error of `query %s` suggests %s", async (sql, name) => {
    const { stderr, exitCode } = await callArmoire(["query", sql, "--mirror", fixture.mirror]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`Did you mean ${name}`)]);
  });

  it("export writes files and a descriptor of them", async () => {
    const out = fixture.newPath();
    const contents = await outputAsJson("export", "--out", out, "--mirror", fixture.mirror);
    expect(contents).toEqual({ ...(await readPackageContents(out)), folder: out, isUnchanged: false });
    const unchanged = await output("export", "--out", out, "--mirror", fixture.mirror);
    expect(unchanged).toContain(`Unchanged: ${out} holds this state already\n`);
    expect(await output("export", "verify", out)).toMatch(
      /^Every file is as it was exported: \d+ tables of /,
    );
    expect(
      await output("export", "--out", out, "--table", "brand", "--format", "csv", "--mirror", fixture.mirror),
    ).toMatch(
      /^brand\.csv {2}6 rows\nComplete: everything known that belongs in this export is held; checked .*\nWritten to .*\n$/,
    );
    expect(await output("export", "--out", out, "--quiet", "--mirror", fixture.mirror)).toBe("");
  });

  it("mirror check and rebuild find a sound mirror", async () => {
    expect(await output("mirror", "check", "--mirror", fixture.mirror)).toMatch(
      /^Sound: \d+ bodies and the rows of \d+ /,
    );
    expect(await outputAsJson("mirror", "check", "--mirror", fixture.mirror)).toMatchObject({ problems: [] });
    expect(await outputAsJson("mirror", "rebuild", "--mirror", fixture.mirror)).toMatchObject({
      discovered: 0,
    });
    expect(await output("mirror", "check", "--mirror", fixture.mirror)).toMatch(/^Sound: /);
  });

  it("mirror compact reports sizes and leaves a sound mirror", async () => {
    expect(await output("mirror", "compact", "--mirror", fixture.mirror)).toMatch(
      /catalogue\.sqlite: [\d.]+ [KM]iB before, [\d.]+ [KM]iB now\n\d+ bodies of [\d.]+ [KM]iB take [\d.]+ [KM]iB\n$/,
    );
    const report = await outputAsJson("mirror", "compact", "--mirror", fixture.mirror);
    expect(report).toMatchObject({
      ...{ mirror: fixture.mirror, bytesAfter: statSync(fixture.mirror).size, retention: null },
    });
    expect(await output("mirror", "check", "--mirror", fixture.mirror)).toMatch(/^Sound: /);
  });

  it("mirror compact with retention rules prunes what its preview reports", async () => {
    const settings = ["--data-dir", fixture.newPath(), "--base-url", fixture.sandbox.url];
    for (const depth of ["brands", "models"]) await output("sync", ...settings, "--depth", depth);
    const keep = [...settings, "--keep-last", "1", "--keep-yearly", "3"];
    const kept = /^ {2}2 {2}\S+ \S+ UTC {2}latest, last, yearly \d{4}$/m;
    const tried = await output("mirror", "compact", ...keep, "--dry-run");
    expect(tried).toMatch(kept);
    expect(tried).toMatch(
      /^ {2}1 {2}\S+ \S+ UTC {2}would be pruned\nWould prune 1 of 2 runs, with \d+ revisions /m,
    );
    expect(await outputAsJson("mirror", "compact", ...keep, "--dry-run")).toMatchObject({
      dryRun: true,
      retention: { keep: [{ run: 2 }], prune: [{ run: 1 }], removed: { revisions: expect.any(Number) } },
    });
    expect(await outputAsJson("status", ...settings, "--as-of", "1", "--quiet")).toMatchObject({
      asOf: { run: 1 },
    });
    const done = await output("mirror", "compact", ...keep);
    expect(done).toMatch(kept);
    expect(done).toMatch(/^Pruned 1 of 2 runs, [\s\S]+ [KM]iB before, [\d.]+ [KM]iB now$/m);
    const { stderr, exitCode } = await callArmoire(["status", ...settings, "--as-of", "1"]);
    expect({ stderr, exitCode }).toMatchObject({
      ...{
        stderr: expect.stringMatching(
          /^armoire: Run 1 was pruned by `armoire mirror compact`\.\nNearest available: run 2 \(/,
        ),
        exitCode: 1,
      },
    });
    expect(await output("runs", ...settings)).toMatch(/ done, pruned /);
    expect(await output("mirror", "check", ...settings)).toMatch(/^Sound: /);
  });

  it("a command without --mirror uses the only mirror of the data directory, and needs a choice between two", async () => {
    const dataDir = fixture.newPath();
    const settings = ["--data-dir", dataDir, "--depth", "brands"];
    await output("sync", ...settings, "--base-url", fixture.sandbox.url);
    expect(await outputAsJson("status", "--data-dir", dataDir)).toMatchObject({
      baseUrl: fixture.sandbox.url,
    });
    await using another = await startSandbox({ brands: 1, models: 0, sizes: 0 });
    await output("sync", ...settings, "--base-url", another.url);
    const { stderr, exitCode } = await callArmoire(["status", "--data-dir", dataDir]);
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/There are 2 mirrors in .*\n.*--base-url URL or --mirror FILE/);
  });
});

it("doctor finds no problem in a working set-up", async () => {
  const settings = [
    ...["--data-dir", fixture.newPath()],
    ...["--base-url", fixture.sandbox.url, "--mirror", fixture.mirror],
  ];
  expect(await output("doctor", ...settings)).toMatch(/^Armoire \d.*\n[\s\S]*(✓ .*\n( {2}.*\n)?){4}$/);
  const diagnosis = await outputAsJson("doctor", ...settings, "--offline");
  expect(diagnosis).toMatchObject({ checks: [{ isOk: true }, { isOk: true }, { isOk: true }] });
});

it("a global option may precede or follow the command, and its value may be a command's name", async () => {
  expect(JSON.parse(await output("--json", "--mirror", fixture.mirror, "runs"))).toHaveLength(1);
  const { stderr, exitCode } = await runArmoire(["--data-dir", "sync", "status"], { cwd: fixture.folder });
  expect({ stderr, exitCode }).toEqual({
    stderr: expect.stringMatching(/no mirror in .*\/sync yet/),
    exitCode: 4,
  });
});

it("--verbose prints the stack of an error", async () => {
  const { stderr } = await callArmoire(["show", "brand", "nobody", "--mirror", fixture.mirror, "--verbose"]);
  expect(stderr).toMatch(/\n {4}at showResource /);
});
