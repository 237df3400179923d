/** Bookkeeping rows of a stranger's backup: `backup verify` and `backup restore` refuse the same, and the rest works. */
import { writeFile } from "node:fs/promises";
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { bookkeepingEntry } from "../../src/archive/contents/entry-names.ts";
import { type BookkeepingTable, bookkeepingTables } from "../../src/mirror/bookkeeping/rows.ts";
import { crawl, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { page, urlOf } from "../mirror/support/world.ts";
import { png } from "../support/picture-server.ts";
import { callArmoire } from "../support/run-armoire.ts";
import { tries } from "../support/thorough.ts";
import { accountWorld } from "./support/account-world.ts";
import { startBackupRig } from "./support/backup-rig.ts";
import { type ForgedEntry, forgeZip } from "./support/forge-zip.ts";
import { takeApart, withSums } from "./support/forgery.ts";

type Row = Record<string, string | number | null>;
/** A row of each table, since some are empty in the backup. */
type Rows = Readonly<Record<BookkeepingTable, readonly Row[]>>;

let entries: ForgedEntry[];
let rows: Rows;

beforeAll(async () => {
  entries = await makeBackup();
  rows = Object.fromEntries(
    bookkeepingTables.map((table) => {
      const entry = entries.find(({ name }) => name === nameOf(table));
      const lines = entry?.content.toString().split("\n") ?? [];
      return [table, lines.filter((line) => line !== "").map((line): Row => JSON.parse(line))];
    }),
  ) as unknown as Rows;
});

const nameOf = (table: BookkeepingTable) => bookkeepingEntry(table, 1);

/** Of an account with a changed bra, a deleted one, a picture, two pages of measurements and an unknown field. */
async function makeBackup(): Promise<ForgedEntry[]> {
  await using rig = await startBackupRig();
  const withPicture = (world: Map<string, string>) => {
    const me = world.get(urlOf("me/")) ?? "";
    const avatar = `"username":"ada","new_field":1,"avatar":{"medium":"https://pictures.example/a.png"}`;
    return new Map([...world, [urlOf("me/"), me.replace('"username":"ada"', avatar)]]);
  };
  const pages = (world: Map<string, string>) =>
    new Map([
      ...world,
      [urlOf("me/measurements/"), JSON.stringify(page([], "me/measurements/2/"))],
      [urlOf("me/measurements/2/"), JSON.stringify(page([]))],
    ]);
  crawl(rig.mirror, withPicture(accountWorld({ bras: { "1": "blue", "2": "red", "3": "black" } })));
  const [known] = rig.mirror.notePictures();
  const picture = png("ada");
  rig.mirror.recordPictures([
    {
      ...{ id: known?.id ?? 0, at: 1, outcome: "picture" },
      ...{ sha256: rig.mirror.storePicture(picture, "image/png"), type: "image/png", size: picture.length },
      ...{ etag: null, lastModified: null },
    },
  ]);
  crawl(rig.mirror, pages(withPicture(accountWorld({ bras: { "1": "green", "2": "red" } }))), {
    approve: true,
    follow: ["brand"],
  });
  return takeApart(await rig.bytes());
}

const forge = (table: BookkeepingTable, changed: readonly object[]): Buffer =>
  forgeZip(
    withSums(
      entries.map((entry) => {
        if (entry.name !== nameOf(table)) return entry;
        const lines = changed.map((row) => `${JSON.stringify(row)}\n`);
        return { ...entry, content: Buffer.from(lines.join("")) };
      }),
    ),
  );

const rejected = 15;

/** @returns the exit codes of `backup verify` and `backup restore` */
async function tryBoth(bytes: Buffer): Promise<readonly [number, number]> {
  await using rig = await startMirrorRig();
  const [file, mirror] = [`${rig.folder}/forged.zip`, `${rig.folder}/restored.sqlite`];
  await writeFile(file, bytes);
  const place = ["--data-dir", rig.folder];
  const verified = await callArmoire(["backup", "verify", file, ...place]);
  const restored = await callArmoire(["backup", "restore", file, "--mirror", mirror, ...place]);
  if (restored.exitCode === 0) {
    const of = ["--mirror", mirror, ...place];
    const commands = [
      ["mirror", "check", ...of],
      ["status", ...of],
      ["runs", ...of],
      ["plan", ...of],
      ["export", "--out", `${rig.folder}/exported`, ...of],
      ["status", "--json", ...of],
      ["backup", "create", "--to", `${rig.folder}/again.zip`, ...of],
    ];
    for (const command of commands) {
      const { exitCode, stderr } = await callArmoire(command);
      expect(exitCode, `${command.slice(0, 2).join(" ")}: ${stderr}`).toBe(0);
    }
  }
  return [Number(verified.exitCode), Number(restored.exitCode)];
}

const forgeries: readonly (readonly [BookkeepingTable, string, unknown])[] = [
  ["run", "counts_json", "{"],
  ["run", "counts_json", "null"],
  ["run", "counts_json", '{"requests":{"sent":"many"},"resources":{}}'],
  ["run", "coverage_json", '{"kinds":1}'],
  ["run", "scope_json", "7"],
  ["run", "started_at", "yesterday"],
  ["run", "ended_at", "2026-02-30T00:00:00.000Z"],
  ["run", "stopped", "because"],
  ["run", "mode", "\u001b[2J"],
  ["resource", "kind", "constructor"],
  ["resource", "kind", "anything"],
  ["resource", "url", "https://catalogue.example/\u0000"],
  ["resource", "url", "https://elsewhere.example/"],
  ["resource", "checked_at", "2026-13-01T00:00:00.000Z"],
  ["resource", "attempts", -1],
  ["resource", "checked_run", 99],
  ["resource", "id", 2 ** 53 + 2],
  ["resource", "etag", '"a"\r\nX-Other: b'],
  ["revision", "status", 1e6],
  ["revision", "base_url", "file:///etc/passwd"],
  ["revision", "seen_run", 99],
  ["headers", "content_type", "text/html\r\nSet-Cookie: a=b"],
  ["meta", "key", "compressed_content"],
  ["media_file", "size", 2 ** 60],
];

it.each(forgeries)(
  "a forged value is refused by both commands: _%s.%s = %j",
  async (table, column, value) => {
    const [first, ...others] = rows[table];
    expect(first).toHaveProperty(column);
    expect(await tryBoth(forge(table, [{ ...first, [column]: value }, ...others]))).toEqual([
      rejected,
      rejected,
    ]);
  },
);

const metaForgeries = [
  ["cycle_run", "NaN"],
  ["followed_links", "[]"],
  ["approved_empty_lists", "{"],
  ["mirror_id", "../.."],
] as const;

it.each(metaForgeries)(
  "a forged fact about the mirror is refused by both commands: %s",
  async (key, value) => {
    const others = rows.meta.filter((row) => row.key !== key);
    const forged = [...others, { key, value }].sort((a, b) => (String(a.key) < String(b.key) ? -1 : 1));
    expect(await tryBoth(forge("meta", forged))).toEqual([rejected, rejected]);
  },
);

const anyValue = fc.oneof(
  fc.constantFrom<unknown[]>(
    null,
    "",
    0,
    -1,
    1.5,
    2 ** 53,
    1e300,
    "{}",
    "[]",
    "null",
    "?",
    "__proto__",
    "\ud800",
  ),
  fc.string(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.json(),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
);

/** A value for one cell: any, or that of another row. */
interface Forgery {
  readonly table: number;
  readonly row: number;
  readonly column: number;
  readonly value: { readonly any: unknown } | { readonly ofRow: number };
}

const forgery: fc.Arbitrary<Forgery> = fc.record({
  ...{ table: fc.nat(), row: fc.nat(), column: fc.nat() },
  value: fc.oneof(fc.record({ any: anyValue }), fc.record({ ofRow: fc.nat() })),
});

it("any value in any column is refused by both commands, or gives a mirror that works", async () => {
  await fc.assert(
    fc.asyncProperty(forgery, async ({ table: tableAt, row: rowAt, column: columnAt, value }) => {
      const filled = bookkeepingTables.filter((name) => rows[name].length > 0);
      const table = filled[tableAt % filled.length] ?? "run";
      const present = rows[table];
      const at = rowAt % present.length;
      const columns = Object.keys(present[at] ?? {});
      const column = columns[columnAt % columns.length] ?? "";
      const forged = "any" in value ? value.any : present[value.ofRow % present.length]?.[column];
      const changed = present.map((row, n) => (n === at ? { ...row, [column]: forged } : row));
      const [verified, restored] = await tryBoth(forge(table, changed));
      expect([0, rejected], `${table}.${column}: ${JSON.stringify(forged)}`).toContain(restored);
      expect(verified, `${table}.${column}: ${JSON.stringify(forged)}`).toBe(restored);
    }),
    { numRuns: tries(15, 2000) },
  );
});
