/** Measurements, which have no names and may share a URL, in `show`, `history` and questions. */
import { describe, expect, it } from "vitest";
import { readHistory } from "../../src/query/history.ts";
import { showResource } from "../../src/query/show.ts";
import { girthNames } from "../../src/sandbox/accounts/users.ts";
import { bearerToken } from "../../src/service/credentials/credential.ts";
import type { SyncOptions } from "../../src/sync/sync.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";
import { collectRows } from "./support/collect-rows.ts";
import { runQuestionHere } from "./support/in-this-process.ts";

const account = ({ sandbox }: Rig): Partial<SyncOptions> => ({
  ...{ area: "account", credential: bearerToken(sandbox.users[0]?.token ?? "") },
});

const hrefsIn = (rig: Rig): string[] =>
  rig.read(({ db }) =>
    db.prepare<[], string>("select distinct href from measurement order by href").pluck().all(),
  );

const idOf = (href: string): string => href.split("/").at(-2) ?? "";

describe("linked measurements", () => {
  it("a measurement with a URL of its own is shown by its URL and by its id, and an unknown one is an error", async () => {
    await using rig = await startRig({ measurements: "linked" });
    await rig.sync(account(rig));
    const [href = ""] = hrefsIn(rig);
    const shown = rig.read((mirror) => showResource(mirror, "measurement", href));
    expect(rig.read((mirror) => showResource(mirror, "measurement", idOf(href)))).toEqual(shown);
    expect(shown.fields).toMatchObject({ href, payload: expect.stringMatching(/^\{.*"measured_on":"20/) });
    expect(shown.fields).not.toHaveProperty("n");
    expect(() => rig.read((mirror) => showResource(mirror, "measurement", "0"))).toThrow(
      'The mirror holds no measurement called "0".',
    );
    await using catalogue = await startRig({});
    await catalogue.sync();
    expect(() => catalogue.read((mirror) => showResource(mirror, "measurement", href))).toThrow(
      "The mirror of a catalogue holds no measurement.",
    );
  });

  it("a measurement with a URL of its own has a history that ends when it is deleted", async () => {
    await using rig = await startRig({ measurements: "linked" });
    await rig.sync(account(rig));
    rig.sandbox.editUser("anna", { measurements: hrefsIn(rig).length - 1 });
    await rig.sync(account(rig));
    const gone = rig.read(({ db }) =>
      db.prepare<[], string>("select href from measurement where gone_at is not null").pluck().get(),
    );
    const { lives } = rig.read((mirror) => readHistory(mirror, "measurement", idOf(gone ?? "")));
    expect(lives).toMatchObject([
      { gone: { run: 2 }, revisions: [{ changes: [{ field: "payload", before: null }] }] },
    ]);
  });

  it("a measurement with a URL of its own has its id as key in @newest", async () => {
    await using rig = await startRig({ measurements: "linked" });
    await rig.sync(account(rig));
    const { columns, rows } = await runQuestionHere({
      ...{ file: rig.file, question: "newest", options: { kind: "measurement", limit: "3" } },
    });
    const found = await collectRows(rows);
    const [key, href] = ["key", "href"].map((column) => columns.indexOf(column));
    expect(found).toHaveLength(3);
    for (const row of found) expect(row[key ?? -1]).toBe(idOf(String(row[href ?? -1])));
  });
});

describe("the matrix of measurements", () => {
  async function readMatrix(rig: Rig) {
    const { columns, rows } = await runQuestionHere({ file: rig.file, question: "measurements" });
    return { columns, rows: await collectRows(rows) };
  }

  it.each(["linked", "inline"] as const)(
    "%s measurements have a row each by day and a column for each field, without repeated days and pages",
    async (measurements) => {
      await using rig = await startRig({ measurements });
      await rig.sync(account(rig));
      const { columns, rows } = await readMatrix(rig);
      expect(columns[0]).toBe("day");
      expect(columns.slice(1, -2).toSorted()).toEqual([...girthNames].sort());
      expect(columns.slice(-2)).toEqual(["href", "n"]);
      const valuesOf = (row: readonly unknown[]) => girthNames.map((name) => row[columns.indexOf(name)]);
      const payloads = rig.read(({ db }) =>
        db.prepare<[], string>("select payload from measurement").pluck().all(),
      );
      const expected = payloads
        .map((payload): Record<string, unknown> => JSON.parse(payload))
        .map((fields) => [fields.measured_on, ...girthNames.map((name) => fields[name])]);
      expect(expected.length).toBeGreaterThan(5);
      expect(rows.map((row) => [row[0], ...valuesOf(row)]).sort()).toEqual(expected.sort());
      const days = rows.map(([day]) => String(day));
      expect(days).toEqual(days.toSorted());
    },
  );

  it("measurements that are gone are left out, and a catalogue has none", async () => {
    await using rig = await startRig({ measurements: "linked" });
    await rig.sync(account(rig));
    const count = hrefsIn(rig).length;
    rig.sandbox.editUser("anna", { measurements: count - 1 });
    await rig.sync(account(rig));
    expect((await readMatrix(rig)).rows).toHaveLength(count - 1);
    await using catalogue = await startRig({});
    await catalogue.sync();
    await expect(readMatrix(catalogue)).rejects.toThrow(
      "@measurements works only on the mirror of an account",
    );
  });
});

describe("embedded measurements", () => {
  it("measurements within a list are shown together and in order by its URL, also as of a run", async () => {
    await using rig = await startRig({ measurements: "inline" });
    await rig.sync(account(rig));
    const [href = ""] = hrefsIn(rig);
    const before = rig.read((mirror) => showResource(mirror, "measurement", href)).fields.payload;
    const all = JSON.parse(String(before)) as { measured_on: string }[];
    const held = rig.read(({ db }) =>
      db
        .prepare<[], string>("select value from measurement_value where name = 'measured_on' order by n")
        .pluck()
        .all(),
    );
    expect(all.map(({ measured_on }) => measured_on)).toEqual(held);
    expect(all.length).toBeGreaterThan(5);

    rig.sandbox.editUser("anna", { measurements: 2 });
    await rig.sync({ ...account(rig), approve: true });
    const { lives } = rig.read((mirror) => readHistory(mirror, "measurement", href));
    expect(lives[0]?.revisions.map(({ changes }) => changes)).toEqual([
      [{ field: "payload", before: null, after: before }],
      [{ field: "payload", before, after: JSON.stringify(all.slice(0, 2)) }],
    ]);
  });
});
