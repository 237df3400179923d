/** The history of a resource, from constructed bodies and from a sandbox that changes. */

import fc from "fast-check";
import { expect, it } from "vitest";
import { formatHistory, historyColumns, rowsOfHistory } from "../../src/cli/format/data/history.ts";
import { type MirrorReader, openMirrorReader } from "../../src/mirror/reader.ts";
import { formatSecond } from "../../src/presentation/times.ts";
import { type ResourceHistory, readHistory } from "../../src/query/history.ts";
import { showResource } from "../../src/query/show.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { beginRun, closeRun, crawl, someTime, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { entity, page, root, urlOf, worldOf, worldOfTruth } from "../mirror/support/world.ts";
import { noHeaders } from "../support/no-headers.ts";
import { tries } from "../support/thorough.ts";

const at = someTime;
const shownAt = formatSecond(at);
const href = urlOf("b/m");
const first = {
  brand_slug: "brand",
  slug: "soft",
  name: "Soft",
  bra_count: 3,
  last_modified_at: "2026-01-01T00:00:00",
};
const pictures = { manufacturer_stock_pictures: [{ url: "https://p.example/1.jpg", text: "Black" }] };

/** The body of the model in each run; null while it is gone. */
const life: readonly (object | null)[] = [
  first,
  first,
  { ...first, bra_count: 4, ...pictures },
  { ...first, bra_count: 4, ...pictures, last_modified_at: "2026-02-02T00:00:00" },
  { ...first, bra_count: 4, ...pictures, last_modified_at: "2026-02-02T00:00:00", colour: "red" },
  null,
  null,
  { ...first, name: "Softer", bra_count: 4, last_modified_at: "2026-02-02T00:00:00" },
];

/** @param pruned runs to prune at the end */
async function historyOfLife(pruned: readonly number[] = []): Promise<ResourceHistory> {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  for (const model of life) {
    const world = worldOf({
      ...{
        "/": root(),
        "brands/": page(["b/"]),
        "b/": entity({ slug: "brand" }, { models: urlOf("b/models/") }),
      },
      "b/models/": page(model === null ? [] : ["b/m"]),
      ...(model && { "b/m": entity(model, { brand: urlOf("b/") }) }),
    });
    crawl(mirror, world, { approve: true });
  }
  if (pruned.length > 0) mirror.pruneRuns(pruned, at);
  return readHistory(mirror, "model", "brand/soft");
}

const change = (field: string, before: unknown, after: unknown) => ({ field, before, after });
const moment = (run: number) => ({ run, at });

it("a life begins with a first revision or a revival and ends with a tombstone", async () => {
  const picture = [{ url: "https://p.example/1.jpg", text: "Black" }];
  expect(await historyOfLife()).toEqual({
    ...{ kind: "model", key: "brand/soft", href, firstKnown: moment(1) },
    lives: [
      {
        gone: moment(6),
        revisions: [
          {
            ...{ revision: 1, pruned: 0, firstSeen: moment(1), lastSeen: moment(2) },
            changes: [
              change("brand_href", null, urlOf("b/")),
              change("name", null, "Soft"),
              change("slug", null, "soft"),
              change("brand_slug", null, "brand"),
              change("bra_count", null, 3n),
              change("last_modified_at", null, "2026-01-01T00:00:00"),
            ],
            unchanged: null,
          },
          {
            ...{ revision: 2, pruned: 0, firstSeen: moment(3), lastSeen: moment(3) },
            changes: [change("bra_count", 3n, 4n), change("manufacturer_stock_pictures", null, picture)],
            unchanged: null,
          },
          {
            ...{ revision: 3, pruned: 0, firstSeen: moment(4), lastSeen: moment(4) },
            changes: [change("last_modified_at", "2026-01-01T00:00:00", "2026-02-02T00:00:00")],
            unchanged: null,
          },
          {
            revision: 4,
            pruned: 0,
            firstSeen: moment(5),
            lastSeen: moment(5),
            changes: [change("body.colour", null, "red")],
            unchanged: null,
          },
        ],
      },
      {
        gone: null,
        revisions: [
          {
            ...{ revision: 5, pruned: 0, firstSeen: moment(8), lastSeen: moment(8) },
            changes: [
              change("name", "Soft", "Softer"),
              change("manufacturer_stock_pictures", picture, null),
              change("body.colour", "red", null),
            ],
            unchanged: null,
          },
        ],
      },
    ],
  });
});

it("the text has one line per changed field, and also for a field that the service has added", async () => {
  expect(formatHistory(await historyOfLife())).toBe(`model  brand/soft
${href}
Known since run 1, ${shownAt}

run 1  ${shownAt}  first seen, until run 2, ${shownAt}
  brand_href        ${urlOf("b/")}
  name              Soft
  slug              soft
  brand_slug        brand
  bra_count         3
  last_modified_at  2026-01-01T00:00:00

run 3  ${shownAt}  changed, until run 3, ${shownAt}
  bra_count                    3 → 4
  manufacturer_stock_pictures  (none) → [{"url":"https://p.example/1.jpg","text":"Black"}]

run 4  ${shownAt}  changed, until run 4, ${shownAt}
  only last_modified_at: 2026-01-01T00:00:00 → 2026-02-02T00:00:00

run 5  ${shownAt}  changed, until run 5, ${shownAt}
  body.colour  (none) → red

run 6  ${shownAt}  gone

run 8  ${shownAt}  back, checked in run 8, ${shownAt}
  name                         Soft → Softer
  manufacturer_stock_pictures  [{"url":"https://p.example/1.jpg","text":"Black"}] → (none)
  body.colour                  red → (none)
`);
});

it("the rows have one changed field each, in the terms of a diff", async () => {
  const rows = rowsOfHistory(await historyOfLife());
  expect(rows.every((row) => row.length === historyColumns.length)).toBe(true);
  const changes = rows.map(([kind, key, ofHref, ...row]) => ({ about: `${kind} ${key} ${ofHref}`, row }));
  expect(new Set(changes.map((change) => change.about))).toEqual(new Set([`model brand/soft ${href}`]));
  expect(changes.map(({ row }) => row).slice(4)).toEqual([
    [1, 1, at, "added", "bra_count", null, 3n],
    [1, 1, at, "added", "last_modified_at", null, "2026-01-01T00:00:00"],
    [2, 3, at, "changed", "bra_count", 3n, 4n],
    [
      ...[2, 3, at, "changed", "manufacturer_stock_pictures", null],
      '[{"url":"https://p.example/1.jpg","text":"Black"}]',
    ],
    [3, 4, at, "changed", "last_modified_at", "2026-01-01T00:00:00", "2026-02-02T00:00:00"],
    [4, 5, at, "changed", "body.colour", null, "red"],
    [null, 6, at, "removed", null, null, null],
    [5, 8, at, "revived", "name", "Soft", "Softer"],
    [
      ...[5, 8, at, "revived", "manufacturer_stock_pictures"],
      ...['[{"url":"https://p.example/1.jpg","text":"Black"}]', null],
    ],
    [5, 8, at, "revived", "body.colour", "red", null],
  ]);
});

it("a revision with the previous body, and one replaced in the same run, are marked as such", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const worldWith = (model: object | null) =>
    worldOf({
      ...{ "/": root(), "brands/": page(["b/"]) },
      "b/": entity({ slug: "brand" }, { models: urlOf("b/models/") }),
      "b/models/": page(model === null ? [] : ["b/m"]),
      ...(model && { "b/m": entity(model, { brand: urlOf("b/") }) }),
    });
  for (const model of [first, null, first]) crawl(mirror, worldWith(model), { approve: true });
  const id = mirror.db.prepare<[string], number>("select id from _resource where url = ?").pluck().get(href);
  const runId = beginRun(mirror);
  const response = {
    resourceId: Number(id),
    fetchedAt: at,
    outcome: "body",
    status: 200,
    etag: null,
    headers: noHeaders,
  } as const;
  for (const model of [{ ...first, bra_count: 9 }, first]) {
    const body = Buffer.from(worldWith(model).get(href) ?? "");
    mirror.ingest([{ ...response, body }], runId);
  }
  closeRun(mirror, runId);
  const described = formatHistory(readHistory(mirror, "model", "brand/soft"));
  expect(described.split("\n\n").slice(-3)).toEqual([
    `run 3  ${shownAt}  back, until run 3, ${shownAt}\n  the same content as before`,
    `run 4  ${shownAt}  changed, until run 4, ${shownAt}\n  replaced in the same run`,
    `run 4  ${shownAt}  changed, checked in run 4, ${shownAt}\n  the same content as before\n`,
  ]);
});

it("the last check that found a revision is kept while its deletion waits for approval", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  const brands = Array.from({ length: 20 }, (_, n) => `b${n}/`);
  const worldWith = (present: readonly string[]) =>
    worldOf({
      ...{ "/": root(), "brands/": page(brands) },
      ...Object.fromEntries(present.map((path) => [path, entity({ slug: path.slice(0, -1) })])),
    });
  crawl(mirror, worldWith(brands));
  // Half of all brands gone at once waits for approval.
  crawl(mirror, worldWith(brands.slice(10)));
  expect(readHistory(mirror, "brand", "b0").lives).toMatchObject([
    { gone: null, revisions: [{ lastSeen: moment(1) }] },
  ]);
  crawl(mirror, worldWith(brands.slice(10)), { approve: true });
  expect(readHistory(mirror, "brand", "b0").lives).toMatchObject([
    { gone: moment(3), revisions: [{ lastSeen: moment(1) }] },
  ]);
});

it("in an account, the user and the bras have histories; the sizes of a bra are one field", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write({ area: "account" });
  const sizes = [{ EU: "65F" }, { EU: "65F", UK: "30E" }];
  for (const multiple_sizes of sizes) {
    const world = worldOf({
      ...{ "/": root({ me: urlOf("me/") }), "me/": entity({ username: "anna" }, { bras: urlOf("bras/") }) },
      ...{ "bras/": page(["bra/"]), "bra/": entity({ name: "The Best", multiple_sizes }) },
    });
    crawl(mirror, world);
  }
  const [before, after] = sizes.map((sizing) =>
    Object.entries(sizing).map(([system, size]) => ({ system, size })),
  );
  expect(readHistory(mirror, "bra", "the best").lives[0]?.revisions[1]).toMatchObject({
    firstSeen: moment(2),
    changes: [change("multiple_sizes", before, after)],
  });
  expect(readHistory(mirror, "user", "Anna").lives[0]?.revisions[0]?.changes).toEqual([
    change("username", null, "anna"),
  ]);
});

it("all changes up to a run add up to the state that the mirror shows as of that run", async () => {
  const advance = fc.record({
    changes: fc.nat(12),
    removals: fc.nat(2),
    returns: fc.nat(2),
    additions: fc.nat(1),
  });
  await fc.assert(
    fc.asyncProperty(fc.nat(1000), fc.array(advance, { minLength: 2, maxLength: 6 }), async (seed, moves) => {
      await using sandbox = await startSandbox({ brands: 2, models: 4, sizes: 8, seed });
      await using rig = await startMirrorRig(sandbox.url);
      const mirror = await rig.write();
      for (const move of moves) {
        crawl(mirror, worldOfTruth(sandbox.truth({ optional: true })), { approve: true });
        sandbox.advance(move);
      }
      for (const kind of ["brand", "model", "size"] as const) {
        const hrefs = mirror.db.prepare<[], string>(`select href from ${kind}`).pluck().all();
        const histories = hrefs.map((href) => readHistory(mirror, kind, href));
        for (const run of moves.map((_, n) => n + 1)) {
          const past = openMirrorReader(rig.file, { kind: "run", run });
          const known = new Set(past.db.prepare<[], string>(`select href from ${kind}`).pluck().all());
          for (const history of histories) {
            expect(known.has(history.href)).toBe(
              history.lives[0] !== undefined && stateAt(history, run) !== null,
            );
            if (!known.has(history.href)) continue;
            const { gone_at, ...shown } = showResource(past, kind, history.href).fields;
            expect(shown).toMatchObject(stateAt(history, run)?.fields ?? {});
            expect(gone_at !== null).toBe(stateAt(history, run)?.isGone);
          }
          past.close();
        }
      }
    }),
    { numRuns: tries(3, 100) },
  );
});

it("a history as of a run equals the history at the end of that run, except for later checks", async () => {
  const advance = fc.record({
    ...{ changes: fc.nat(9), removals: fc.nat(3), returns: fc.nat(2), additions: fc.nat(1) },
    rebuilds: fc.boolean(),
  });
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(fc.nat(1000), fc.array(advance, { minLength: 2, maxLength: 6 }), async (seed, moves) => {
      await using sandbox = await startSandbox({ brands: 2, models: 4, sizes: 8, seed });
      await using rig = await startMirrorRig(sandbox.url);
      const mirror = await rig.write();
      const kept: ReturnType<typeof historiesOf>[] = [];
      for (const { rebuilds, ...move } of moves) {
        crawl(mirror, worldOfTruth(sandbox.truth({ optional: true })), { approve: true });
        kept.push(rig.read(historiesOf));
        if (rebuilds) mirror.rebuild();
        sandbox.advance(move);
      }
      for (const [n, histories] of kept.entries()) {
        const past = openMirrorReader(rig.file, { kind: "run", run: n + 1 });
        const known = historiesOf(past);
        past.close();
        expect(withoutLastSeen(known)).toEqual(withoutLastSeen(histories));
        const seen = lastSeenIn(histories);
        for (const [index, moment] of lastSeenIn(known).entries()) {
          if (moment === null) continue;
          expect(moment).toEqual(seen[index]);
          compared++;
        }
      }
    }),
    { numRuns: tries(3, 100) },
  );
  expect(compared).toBeGreaterThan(0);
});

function historiesOf(mirror: MirrorReader): readonly ResourceHistory[] {
  return (["brand", "model", "size"] as const).flatMap((kind) => {
    const hrefs = mirror.db.prepare<[], string>(`select href from ${kind} order by href`).pluck().all();
    return hrefs.map((href) => readHistory(mirror, kind, href));
  });
}

function lastSeenIn(histories: readonly ResourceHistory[]) {
  return histories.flatMap(({ lives }) =>
    lives.flatMap(({ revisions }) => revisions.map(({ lastSeen }) => lastSeen)),
  );
}

function withoutLastSeen(histories: readonly ResourceHistory[]) {
  return histories.map(({ lives, ...about }) => ({
    ...about,
    lives: lives.map(({ gone, revisions }) => ({
      gone,
      revisions: revisions.map(({ lastSeen: _, ...revision }) => revision),
    })),
  }));
}

/** The fields at the end of a run according to a history; null before it was seen. */
function stateAt({ lives }: ResourceHistory, run: number) {
  const fields: Record<string, unknown> = {};
  const seen = lives.filter(
    ({ revisions: [revision] }) => revision !== undefined && revision.firstSeen.run <= run,
  );
  for (const { revisions } of seen)
    for (const { changes } of revisions.filter(({ firstSeen }) => firstSeen.run <= run))
      for (const { field, after } of changes) fields[field] = after;
  const { manufacturer_stock_pictures: _, ...columns } = fields;
  const last = seen.at(-1);
  return last === undefined ? null : { fields: columns, isGone: last.gone !== null && last.gone.run <= run };
}

it("pruned revisions are mentioned, and the first remaining one is not called new", async () => {
  const history = await historyOfLife([1, 2, 4]);
  expect(
    history.lives.map(({ revisions }) => revisions.map(({ revision, pruned }) => [revision, pruned])),
  ).toEqual([
    [
      [2, 1],
      [4, 1],
    ],
    [[5, 0]],
  ]);
  const printed = formatHistory(history);
  expect(printed).toMatch(/\nrevision 1 is pruned\n\nrun 3 {2}.* {2}read, .*\n {2}brand_href +http/);
  expect(printed).toMatch(/\nrevision 3 is pruned\n\nrun 5 {2}.* {2}changed, /);
  expect(printed).not.toContain("first seen");
  expect(rowsOfHistory(history).map((row) => row[historyColumns.indexOf("change")])).not.toContain("added");
  expect(formatHistory(await historyOfLife([1, 2, 3, 4]))).toContain("revisions 1 to 3 are pruned");
});
