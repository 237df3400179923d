/** Random changes of the sandbox's content, and their reports. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AdvanceAction, changedFields } from "../../src/sandbox/advance.ts";
import type { TruthRecord } from "../../src/sandbox/resources/catalogue.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { getEnvelope, hrefsOf, linkOf, send } from "./support/client.ts";
import { crawlCatalogue } from "./support/crawl.ts";

const size = { brands: 6, models: 24, sizes: 60, pageSize: 4 } as const;

type Truth = ReadonlyMap<string, TruthRecord>;

function truthOf(sandbox: Sandbox): Truth {
  return new Map([...sandbox.truth({ optional: true })].map((record) => [record.url, record]));
}

/** The expected report, from the states before and after. */
function differences(before: Truth, after: Truth): AdvanceAction[] {
  const found: AdvanceAction[] = [];
  for (const [url, { kind, body }] of before) {
    const now = after.get(url);
    const fields = now ? changedFields(body, now.body) : {};
    if (!now) found.push({ action: "removed", kind, url });
    else if (Object.keys(fields).length > 0) found.push({ action: "changed", kind, url, fields });
    else expect(JSON.stringify(now.body)).toBe(JSON.stringify(body));
  }
  for (const [url, { kind }] of after) if (!before.has(url)) found.push({ action: "added", kind, url });
  return found;
}

function braCountsOf(truth: Truth, countedKind: string): number {
  let sum = 0;
  for (const { kind, body } of truth.values()) if (kind === countedKind) sum += Number(body.body?.bra_count);
  return sum;
}

const byUrl = (a: AdvanceAction, b: AdvanceAction): number => (a.url < b.url ? -1 : 1);
const count = fc.integer({ min: 0, max: 4 });

it("the report of a step matches the difference of the content, for any request", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(),
      fc.array(
        fc.record(
          {
            changes: count,
            additions: count,
            removals: count,
            returns: count,
            moves: count,
            kind: fc.constantFrom("brand" as const, "model" as const, "size" as const),
          },
          { requiredKeys: [] },
        ),
        { minLength: 1, maxLength: 4 },
      ),
      async (seed, requests) => {
        await using sandbox = await startSandbox({ ...size, seed });
        for (const request of requests) {
          const before = truthOf(sandbox);
          const { actions } = sandbox.advance(request);
          const stated = actions.filter(({ action }) => action !== "moved").sort(byUrl);
          const after = truthOf(sandbox);
          expect(stated).toEqual(differences(before, after).sort(byUrl));
          expect(braCountsOf(after, "brand")).toBe(braCountsOf(after, "size"));
          expect(braCountsOf(after, "model")).toBe(braCountsOf(after, "size"));
        }
      },
    ),
    { numRuns: 60 },
  );
});

it("the same seed and requests give the same changes", async () => {
  const reports = await Promise.all(
    [1, 2].map(async () => {
      await using sandbox = await startSandbox({ ...size, seed: 3 });
      const report = JSON.stringify([
        sandbox.advance(),
        sandbox.advance({ steps: 3 }),
        sandbox.advance({ removals: 2 }),
      ]);
      return report.replaceAll(new URL(sandbox.url).origin, "");
    }),
  );
  expect(reports[0]).toBe(reports[1]);
});

it("steps are numbered, and each changes something different", async () => {
  await using sandbox = await startSandbox(size);
  const first = sandbox.advance();
  const later = sandbox.advance({ steps: 2 });
  expect([first.step, later.step]).toEqual([1, 3]);
  expect(later.actions).not.toEqual(first.actions);
});

describe("one kind of event", () => {
  it("a change updates the entity's date and its parents' counts, not their dates", async () => {
    await using sandbox = await startSandbox(size);
    let report = sandbox.advance({ changes: 1, kind: "size" });
    while (!report.actions.some(({ kind }) => kind === "brand"))
      report = sandbox.advance({ changes: 1, kind: "size" });
    const fieldsOf = (kind: string): string[] =>
      Object.keys(report.actions.find((action) => action.kind === kind)?.fields ?? {});
    expect(fieldsOf("size")).toEqual(["bra_count", "last_modified_at"]);
    expect(fieldsOf("model")).toEqual(["bra_count"]);
    expect(fieldsOf("brand")).toEqual(["bra_count"]);
  });

  it("dates never decrease", async () => {
    await using sandbox = await startSandbox(size);
    const { actions } = sandbox.advance({ changes: 20, steps: 3 });
    const dates = actions.flatMap(({ fields }) =>
      fields?.last_modified_at ? [fields.last_modified_at] : [],
    );
    expect(dates.length).toBeGreaterThan(20);
    for (const [before, after] of dates) expect(String(after) > String(before)).toBe(true);
  });

  it("a removed entity and everything below it gives 404 and leaves its collections", async () => {
    await using sandbox = await startSandbox(size);
    const { actions } = sandbox.advance({ removals: 1, kind: "model" });
    const removed = actions.filter(({ action }) => action === "removed");
    expect(new Set(removed.map(({ kind }) => kind))).toEqual(
      new Set(["model", "related_models", "same_cut", "sizes", "size", "adjacent_sizes"]),
    );
    for (const { url } of removed) expect((await send(url)).status).toBe(404);
    const crawled = await crawlCatalogue(sandbox.url);
    for (const { url } of removed) expect(crawled.has(url)).toBe(false);
  });

  it("a returned entity has its old URL and a new date", async () => {
    await using sandbox = await startSandbox(size);
    const before = truthOf(sandbox);
    const removed = sandbox
      .advance({ removals: 1, kind: "brand" })
      .actions.filter(({ action }) => action === "removed");
    const added = sandbox
      .advance({ returns: 1, kind: "brand" })
      .actions.filter(({ action }) => action === "added");
    expect(added.map(({ url }) => url).sort()).toEqual(removed.map(({ url }) => url).sort());
    expect(
      differences(before, truthOf(sandbox)).map(({ kind, fields }) => [kind, Object.keys(fields ?? {})]),
    ).toEqual([["brand", ["last_modified_at"]]]);
  });

  it("a moved model changes its position and nothing else", async () => {
    await using sandbox = await startSandbox(size);
    const { actions } = sandbox.advance({ moves: 1 });
    const moved = actions.find(({ action }) => action === "moved");
    const [from, to] = moved?.fields?.position ?? [];
    expect(from).not.toBe(to);
    const model = await getEnvelope(moved?.url ?? "");
    const brand = await getEnvelope(linkOf(model, "brand"));
    const urls: string[] = [];
    for (let url: unknown = linkOf(brand, "models"); typeof url === "string"; ) {
      const page = await getEnvelope(url);
      urls.push(...hrefsOf(page));
      url = page.meta.next;
    }
    expect(urls[Number(to)]).toBe(moved?.url);
    expect(actions.some(({ kind, url }) => kind === "model" && url === moved?.url)).toBe(true);
    expect(actions.filter(({ action, kind }) => action === "changed" && kind === "model")).toEqual([]);
  });

  it("added entities can be reached by links", async () => {
    await using sandbox = await startSandbox(size);
    const added = sandbox
      .advance({ additions: 5 })
      .actions.filter(({ action, kind }) => action === "added" && /^(brand|model|size)$/.test(kind));
    expect(added.length).toBeGreaterThanOrEqual(5);
    const crawled = await crawlCatalogue(sandbox.url);
    for (const { url } of added) expect(crawled.has(url)).toBe(true);
  });
});

it("a world without entities still works", async () => {
  await using sandbox = await startSandbox(size);
  sandbox.advance({ removals: 100, kind: "brand" });
  expect([...sandbox.truth()].map(({ kind }) => kind)).toEqual(["root", "brands"]);
  expect(sandbox.advance({ changes: 3, moves: 2, removals: 1 }).actions).toEqual([]);
  expect(sandbox.advance({ additions: 1, kind: "brand" }).actions.length).toBeGreaterThan(0);
});
