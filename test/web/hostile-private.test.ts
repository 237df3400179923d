/**
 * Pages of an account and of operators whose every text is hostile, beside the same with harmless texts: both must have the same
 * elements with the same attributes.
 */
import { copyFileSync, cpSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import type { Overview } from "../../jobs/bullmq/operators/overview.ts";
import { readMirror } from "../../src/mirror/reader.ts";
import { readWardrobe } from "../../src/query/lists/wardrobe.ts";
import type { SharedView } from "../../src/web/page.ts";
import { operationsPage } from "../../src/web/pages/operations/operations.ts";
import { createServer } from "../../src/web/server.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { startAccountRig } from "./support/account-rig.ts";
import { launchBrowser } from "./support/browser.ts";
import { isHarmless, look, replaceTexts, watchElements } from "./support/hostile-mirror.ts";
import { harmlessTexts, hostileTexts } from "./support/hostile-texts.ts";

const texts = { hostile: hostileTexts, harmless: harmlessTexts };

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser(inject("chromium"));
});
afterAll(() => browser.close());

it("pages of an account with hostile texts have the elements of those with harmless ones", async () => {
  await using folder = await temporaryFolder();
  await using account = await startAccountRig();
  const seen = await Promise.all(
    Object.entries(texts).map(async ([name, replacing]) => {
      const catalogue = join(folder.path, `${name}.sqlite`);
      const file = join(folder.path, name, "mirror.sqlite");
      mkdirSync(dirname(file));
      cpSync(dirname(account.file), dirname(file), { recursive: true });
      copyFileSync(account.rig.file, catalogue);
      for (const mirror of [catalogue, file]) replaceTexts(mirror, replacing);
      const backup = { file: replacing[3] ?? "", rootHash: "", createdAt: "2025-01-01T00:00:00.000Z" };
      const server = await createServer({
        ...{ findCatalogue: () => catalogue, port: 0, clock: account.rig.clock },
        account: {
          ...{ name: replacing[0] ?? "", findMirror: () => file },
          readNewestBackup: () => ({
            ...{ ...backup, verifiedAt: backup.createdAt, damagedAt: null },
          }),
        },
      });
      const watched = await watchElements(browser, server.url);
      await watched.page.goto(`${server.url}session?next=/me#key=${server.key}`);
      await watched.page.locator(".gallery").waitFor();
      const bras = readMirror(file, readWardrobe).bras.map(({ key }) => encodeURIComponent(key));
      const paths = [
        ...["/me", "/me?brand=none", "/me/dimensions", "/me/measurements"],
        ...[`/me/compare?bra=${bras[0]}&bra=${bras[1]}`, ...bras.slice(0, 4).map((key) => `/me/bra/${key}`)],
      ];
      const found = [];
      for (const path of paths) found.push(await look(watched, new URL(path, server.url).href));
      await server.close();
      return found;
    }),
  );
  const [hostile = [], harmless = []] = seen;
  expect(hostile.length).toBe(9);
  expect(JSON.stringify(hostile[0]?.elements)).toContain("img");
  for (const [n, page] of hostile.entries()) {
    expect(page).toMatchObject(isHarmless);
    expect([n, page.elements]).toEqual([n, harmless[n]?.elements]);
    expect(page.schemes.filter((scheme) => !["http:", "https:"].includes(scheme))).toEqual([]);
  }
});

/** Each text is another one. */
function overviewOf(replacing: readonly string[]): Overview {
  let place = 0;
  const next = () => replacing[place++ % replacing.length] ?? "";
  const many = <Item>(make: () => Item) => Array.from({ length: 12 }, make);
  const at = Date.UTC(2025, 0, 1);
  const run = (isRunning: boolean) => ({
    ...{ principal: next(), service: next(), mode: next(), run: 1, startedAt: at, counted: 3, failed: 2 },
    ...{ state: isRunning ? ("running" as const) : ("failed" as const), endedAt: isRunning ? null : at },
    progress: {
      ...{ held: 1, due: 2, counted: 3, allowanceLeft: 4, estimatedEnd: "2025-01-01T00:00:00.000Z" },
      kinds: [{ kind: next(), held: 1, known: 2 }],
    },
    outcome: isRunning ? null : next(),
  });
  return {
    memory: { usedBytes: 1, maxBytes: 2, policy: next() } as Overview["memory"],
    runs: [...many(() => run(true)), ...many(() => run(false))],
    allowances: many(() => ({
      ...{ principal: next(), service: next(), limit: 3, remaining: 2, resetAt: at, updatedAt: at },
    })),
    failures: many(() => ({
      ...{ principal: next(), reason: next(), message: next(), kind: next(), label: next(), url: next() },
      ...{ run: 1, attempts: 1, failedAt: at },
    })),
    workers: many(() => ({
      ...{ host: next(), pid: 1, version: next(), startedAt: at },
      principals: [
        {
          ...{ name: next(), service: next(), acceptsJobs: false, credential: "refused" as const, sent: 1 },
          lastJob: { kind: next(), label: next(), at },
        },
      ],
    })),
    schedules: many(() => ({
      ...{ name: next(), command: next(), area: "catalogue" as const, cron: next(), tz: next(), nextAt: at },
      runs: [
        { startedAt: at, state: "done" as const, seconds: 1, counts: { [next()]: 1 }, problem: null },
        { startedAt: at, state: "failed" as const, seconds: null, counts: null, problem: next() },
      ],
    })),
    requests: many(() => ({
      ...{ principal: next(), service: next(), isOfOtherVersion: true, waiting: 1, active: 1 },
    })),
    ...{ hidden: 1, unreadable: 1 },
  };
}

it("the page for operators with hostile texts has the elements of one with harmless texts", async () => {
  const [hostile, harmless] = await Promise.all(
    Object.values(texts).map(async (replacing) => {
      const view = {
        ...{ mirror: null, parameters: {}, query: new URLSearchParams(), path: "/operations" },
        ...{ asOf: undefined, schedules: null, account: null, now: Date.UTC(2025, 0, 2) },
        redis: { address: replacing[1] ?? "", overview: overviewOf(replacing) },
        link: (path: string) => path,
      };
      const content = operationsPage.render(view as unknown as SharedView);
      if ("redirect" in content) throw new Error("no page");
      const { page, mishaps } = await watchElements(browser, "about:blank");
      // The scripts of a page begin with its address.
      await page.goto("about:blank");
      await page.setContent(`<!doctype html><html><body>${await content.body}</body></html>`);
      const elements = await page.evaluate<Record<string, number>>("describeElements(document)");
      return { elements, hits: await page.evaluate("hits"), mishaps };
    }),
  );
  expect(Object.keys(harmless?.elements ?? {}).length).toBeGreaterThan(30);
  expect(hostile).toEqual({ ...harmless, hits: 0, mishaps: [] });
});
