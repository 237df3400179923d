/** The pages of an account, over real sockets and in a real browser. */
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { readCoverage } from "../../src/mirror/runs/coverage.ts";
import { listRuns } from "../../src/mirror/runs/run-log.ts";
import { readWardrobe } from "../../src/query/lists/wardrobe.ts";
import { runQuestion } from "../../src/query/questions/run-question.ts";
import { type KeptPage, renderKeptPage } from "../../src/web/kept-page.ts";
import { png } from "../support/picture-server.ts";
import { type AccountRig, startAccountRig } from "./support/account-rig.ts";
import { checkPage, launchBrowser, sound, visibleText, watchPage } from "./support/browser.ts";
import { linksIn, send, startWebRig } from "./support/web-rig.ts";

let account: AccountRig;
beforeAll(async () => {
  account = await startAccountRig();
});
afterAll(() => account[Symbol.asyncDispose]());
beforeEach(() => {
  account.backup = null;
});

const json = async (path: string) => JSON.parse((await account.get(path)).body) as Record<string, unknown>[];
const keys = () => account.read((mirror) => readWardrobe(mirror).bras.map(({ key }) => key));
const paths = () => ["/me", "/me/dimensions", "/me/measurements", `/me/bra/${keys()[0]}`, "/me/compare"];

describe("access", () => {
  it("every page of an account asks for the key, and no cache may keep it", async () => {
    const picture = linksOfPictures((await account.get("/me")).body)[0] ?? "";
    for (const path of [...paths(), "/me.csv", "/me/dimensions.json", picture]) {
      const without = await send(account.server, path);
      expect({ path, status: without.status, body: without.body }).toMatchObject({
        ...{ path, status: 403, body: expect.stringContaining("This page needs the key") },
      });
      expect((await send(account.server, path, { headers: { cookie: "armoire-1=x" } })).status).toBe(403);
      const { status, headers } = await account.get(path);
      expect({ path, status, cache: headers["cache-control"] }).toEqual({
        path,
        status: 200,
        cache: "no-store",
      });
    }
  });

  it("pages of the catalogue need no key, and have nothing of the account", async () => {
    for (const path of ["/", "/brands", "/search?q=a", "/search?q=ada"]) {
      const { status, body } = await send(account.server, path);
      expect(status).toBe(200);
      expect(body).not.toMatch(/\/me\/bra|Bras of/);
    }
  });
});

describe("gallery", () => {
  it("shows every bra with its picture, its size, and since when it is gone", async () => {
    const { body } = await account.get("/me");
    expect(linksIn(body).filter((href) => href.startsWith("/me/bra/"))).toHaveLength(30);
    expect(linksOfPictures(body)).toHaveLength(30);
    expect(body).toContain("29 bras and");
    expect(body).toContain("1 bra is gone at the service and still here.");
    expect(body).toContain("Complete: everything that the service has of you is held");
    expect(body).toMatch(/The last run was <strong>all right<\/strong>\. Run 2 of <bdi>ada<\/bdi>/);
    expect(body.match(/<span class="tag gone">gone /g)).toHaveLength(1);
  });

  it("filters leave the bras that have all of them, in every format", async () => {
    const [, owned = ""] = (await json("/me.json")).map(({ brand }) => String(brand));
    const all = await json("/me.json");
    expect(all).toHaveLength(30);
    for (const [query, isKept] of [
      ["owned=yes", ({ is_owned }) => String(is_owned) === "1" || is_owned === true],
      ["owned=no", ({ is_owned }) => String(is_owned) === "0" || is_owned === false],
      [`brand=${encodeURIComponent(owned)}`, ({ brand }) => brand === owned],
      ["state=gone", ({ gone_at }) => gone_at !== null],
      ["q=no-such-words", () => false],
    ] as readonly [string, (bra: Record<string, unknown>) => boolean][]) {
      const kept = all.filter(isKept);
      expect({ query, rows: await json(`/me.json?${query}`) }).toEqual({ query, rows: kept });
      const { body } = await account.get(`/me?${query}`);
      expect(linksIn(body).filter((href) => href.startsWith("/me/bra/"))).toHaveLength(kept.length);
    }
  });

  it("says when the newest backup was verified, or that none is known", async () => {
    expect((await account.get("/me")).body).toContain("No backup is known.");
    const at = "2026-11-21T10:00:00.000Z";
    const file = join(dirname(account.file), "ada.zip");
    writeFileSync(file, "");
    account.backup = {
      ...{ file, rootHash: "0".repeat(64) },
      createdAt: at,
      verifiedAt: at,
      damagedAt: null,
    };
    expect((await account.get("/me")).body).toMatch(/newest backup.*2026-11-21.*ada\.zip/is);
    // The last run found that a bra is gone.
    const [last] = account.read((mirror) => listRuns(mirror, 1));
    const { endedAt } = last ?? {};
    for (const [createdAt, text] of [
      [endedAt, "Newest backup with everything that is held"],
      [last?.startedAt, "The newest backup lacks later changes"],
    ]) {
      account.backup = { ...account.backup, createdAt: String(createdAt) };
      expect((await account.get("/me")).body).toContain(text);
    }
    account.backup = { ...account.backup, damagedAt: at };
    expect((await account.get("/me")).body).toContain("The newest backup is damaged");
    rmSync(file);
    expect((await account.get("/me")).body).toContain("The newest backup is not there any more");
  });
});

it("pictures are those of the mirror, and other names lead to none", async () => {
  const [picture = ""] = linksOfPictures((await account.get("/me")).body);
  const { headers } = await account.get(picture);
  expect(headers).toMatchObject({
    ...{
      "content-type": "image/png",
      "content-length": String(png("bra").length),
      "x-content-type-options": "nosniff",
    },
  });
  for (const name of [
    "..%2Fmirror.sqlite",
    "mirror.sqlite",
    "0".repeat(64),
    `${"0".repeat(64)}.png`,
    `${"0".repeat(64)}.svg`,
  ])
    expect((await account.get(`/me/media/${name}`)).status).toBe(404);
});

it("dimensions sort by their headings, the missing ones last", async () => {
  const rows = await json("/me/dimensions.json?sort=gore_height");
  const values = rows.map(({ gore_height }) => gore_height as number | null);
  const known = values.filter((value) => value !== null);
  expect(values).toEqual([...known.toSorted((a, b) => a - b), ...values.filter((value) => value === null)]);
  // The first click on a heading leads to the least.
  expect((await account.get("/me/dimensions")).body).toContain('href="/me/dimensions?sort=gore_height"');
  const { body } = await account.get("/me/dimensions?sort=gore_height");
  expect(body).toContain("in centimetres, by gore height, the least first.");
  // The points of a column are below each other.
  const decimals = Math.max(...known.map((value) => String(value).split(".")[1]?.length ?? 0));
  const least = known[0]?.toFixed(decimals);
  expect(body).toContain(`<span class="least">${least}<span class="visually-hidden"> least</span></span>`);
  expect(body).toMatch(
    /aria-sort="ascending"[^>]*><a href="\/me\/dimensions\?sort=gore_height&amp;order=desc"/,
  );
});

it("two bras are compared dimension by dimension, with the difference", async () => {
  const [a, b] = account.read((mirror) => readWardrobe(mirror).bras);
  const { body } = await account.get(`/me/compare?bra=${a?.key}&bra=${b?.key}`);
  const difference = Number(b?.fields.hooks) - Number(a?.fields.hooks);
  const sign = difference > 0 ? "+" : difference < 0 ? "−" : "";
  expect(body).toMatch(
    new RegExp(
      `Hooks</th><td class="number">${a?.fields.hooks}</td><td class="number">${b?.fields.hooks}</td><td class="number">${sign ? `\\${sign}` : ""}${Math.abs(difference)}<`,
    ),
  );
  const rows = JSON.parse((await account.get(`/me/compare.json?bra=${a?.key}&bra=${b?.key}`)).body);
  expect(rows.map(({ href }: { href: string }) => href)).toEqual([a?.href, b?.href]);
  expect((await account.get(`/me/compare?bra=${a?.key}`)).body).toContain("Choose two bras or more");
  expect((await account.get("/me/compare?bra=1&bra=2")).status).toBe(404);
});

it("measurements are those of the question, with a chart for each field", async () => {
  const { columns, rows } = await runQuestion({ file: account.file, question: "measurements" });
  const expected: unknown[] = [];
  for await (const row of rows) {
    const named = columns.map((name, n) => [name, row[n] ?? null] as const);
    expected.push(Object.fromEntries(named.filter(([name]) => name !== "href" && name !== "n")));
  }
  expect(expected.length).toBeGreaterThan(10);
  expect(await json("/me/measurements.json")).toEqual(expected);
  const { body } = await account.get("/me/measurements");
  expect(body.match(/<figure class="chart">/g)?.length).toBeGreaterThan(2);
});

it("a bra has its history, and a run of the account is no run of the catalogue", async () => {
  const { body } = await account.get("/me?as-of=1");
  expect(body).toContain("as of run 1 of <bdi>ada</bdi>");
  expect(body).not.toContain("gone at the service");
  const links = linksIn(body);
  expect(links).toContain("/me/measurements?as-of=1");
  expect(links).toContain("/brands");
  expect(body).toMatch(/action="\/me\/compare"><input type="hidden" name="as-of" value="1">/);
  const [, searchForm = "as-of"] = /<form class="find" action="\/search"(.*?)<\/form>/s.exec(body) ?? [];
  expect(searchForm).not.toContain("as-of");
  const [bra = ""] = links.filter((href) => href.startsWith("/me/bra/"));
  const braBody = (await account.get(bra)).body;
  expect(braBody).toMatch(
    /<strong>First fetched<\/strong> <time[^>]*>[^<]*<\/time>, run 1 of <bdi>ada<\/bdi>/,
  );
  expect(braBody).toMatch(/by run 1 of <bdi>ada<\/bdi>, as revision 1/);
});

it("without an account there are no such pages", async () => {
  await using web = await startWebRig();
  expect((await web.get("/me")).status).toBe(404);
  expect((await web.get("/")).body).not.toContain("My bras");
});

it("the narrowest gore is found from the screen; each page, and the page to keep, is accessible, fits, prints whole and asks nothing elsewhere", async () => {
  const [a, b] = keys();
  const browser = await launchBrowser(inject("chromium"));
  try {
    const watched = await watchPage(browser, account.server.url);
    await watched.page.goto(`${account.server.url}me#key=${account.server.key}`);
    await watched.page.getByRole("heading", { name: "Bras of ", level: 1 }).waitFor();
    await expectWholePictures(watched.page);
    await findNarrowestGore(watched.page);
    for (const path of [...paths(), `/me/compare?bra=${a}&bra=${b}`, "/me?q=zzz"]) {
      const { href } = new URL(path, account.server.url);
      expect(await checkPage(watched, href, 2)).toEqual(sound(href));
    }
    const kept = (of: KeptPage["account"]) =>
      account.read((mirror) =>
        renderKeptPage({
          ...{ wardrobe: readWardrobe(mirror), mirrorFile: account.file, now: Date.UTC(2026, 10, 24) },
          ...{ coverage: readCoverage(mirror), account: of, baseUrl: mirror.identity.baseUrl },
        }),
      );
    // A backup has the pictures beside the page.
    expect((await kept(null)).text).toMatch(/src="media\/[0-9a-f]{64}\.png"/);
    const { text, pictures } = await kept({ name: "ada", newestBackup: null, isBackupOld: null });
    expect(pictures).toBe(2);
    const newestBackup = {
      ...{ file: account.file, rootHash: "0".repeat(64), damagedAt: null },
      ...{ createdAt: "2026-11-20T06:00:00.000Z", verifiedAt: "2026-11-21T06:00:00.000Z" },
    };
    const ofBackup = async (isBackupOld: boolean) =>
      (await kept({ name: "ada", newestBackup, isBackupOld })).text;
    expect(await ofBackup(true)).toContain("The newest backup lacks later changes");
    expect(await ofBackup(false)).toContain("Newest backup with everything that is held");
    // Others may get the page.
    expect(await ofBackup(false)).not.toContain(dirname(account.file));
    // The avatar, before the bras.
    const avatar = png("avatar").toString("base64");
    expect(text.indexOf(`src="data:image/png;base64,${avatar}"`)).toBeGreaterThan(text.indexOf("<h1>"));
    expect(text.indexOf(avatar)).toBeLessThan(text.indexOf("Gallery"));
    expect(text).not.toMatch(/<script|<link|src="(?!data:)|@import/);
    // Read later, an age would be wrong.
    expect(text).toMatch(/measurements, checked <time datetime="[^"]+"/);
    const file = join(dirname(account.file), "ada.html");
    writeFileSync(file, text);
    const { href } = pathToFileURL(file);
    expect(await checkPage(await watchPage(browser, href), href, 2)).toEqual(sound(href));
  } finally {
    await browser.close();
  }
});

/** A picture of any shape fills its frame, from its middle. */
async function expectWholePictures(page: Page): Promise<void> {
  const frames = await page.evaluate<number[][]>(`[...document.querySelectorAll(".photo img")].map((img) => {
    img.style.aspectRatio = "1 / 3";
    const [frame, shown] = [img.parentElement, img].map((element) => element.getBoundingClientRect());
    return [frame.height - shown.height, frame.top - shown.top];
  })`);
  expect(frames.length).toBeGreaterThan(0);
  expect(new Set(frames.flat())).toEqual(new Set([0]));
}

/** From the screen alone: the bra with the narrowest gore of 30, and that nothing is lost. */
async function findNarrowestGore(page: Page): Promise<void> {
  const [last] = account.read((mirror) => listRuns(mirror, 1));
  const at = String(last?.endedAt);
  account.backup = {
    ...{ file: account.file, rootHash: "0".repeat(64), createdAt: at, verifiedAt: at, damagedAt: null },
  };
  await page.goto(account.server.url);
  await page.getByRole("link", { name: "My bras" }).click();
  const seen = await visibleText(page.locator("main"));
  expect(seen).toContain("Complete: everything that the service has of you is held");
  expect(seen).toContain("1 bra is gone at the service and still here.");
  expect(seen).toContain("Newest backup with everything that is held");
  expect(seen).toMatch(/The last run was all right\. Run 2 of ada/);
  await page.getByRole("link", { name: "Dimensions" }).click();
  expect(await visibleText(page.locator("main"))).toContain("The cup separation is the width of the gore.");
  await page.getByRole("link", { name: "Cup separation" }).click();
  await page.waitForURL(/sort=cup_separation/);
  const rows = page.getByRole("table").locator("tbody tr");
  expect(await rows.count()).toBe(30);
  const { bras } = account.read((mirror) => readWardrobe(mirror));
  const widths = bras.map(({ fields }) => Number(fields.cup_separation ?? Number.NaN));
  const narrowest = bras[widths.indexOf(Math.min(...widths.filter((width) => width > 0)))];
  expect(await visibleText(rows.first().getByRole("rowheader"))).toBe(narrowest?.fields.name);
  account.backup = null;
}

const linksOfPictures = (html: string): string[] =>
  [...html.matchAll(/<img src="(\/me\/media\/[^"]+)"/g)].map(([, address = ""]) => address);
