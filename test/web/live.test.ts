/** Parts of pages that follow a running sync, in a real browser and over real sockets. */
import { expect, inject, it } from "vitest";
import { createServer } from "../../src/web/server.ts";
import { startRig } from "../sync/support/rig.ts";
import { launchBrowser, watchPage } from "./support/browser.ts";
import { openStream, type Stream } from "./support/web-rig.ts";

it("pages show a running sync, its progress and its end without being loaded again", async () => {
  await using rig = await startRig({ brands: 4, models: 30, sizes: 100, latencyMillis: 40 });
  await rig.sync({ depth: "brands" });
  const server = await createServer({ findCatalogue: () => rig.file, port: 0 });
  const browser = await launchBrowser(inject("chromium"));
  try {
    const home = await watchPage(browser, server.url);
    const runs = await watchPage(browser, server.url, { colorScheme: "dark" });
    await home.page.goto(server.url);
    await runs.page.goto(`${server.url}runs`);
    for (const { page } of [home, runs]) {
      expect(await page.locator(".under-way").count()).toBe(0);
      await page.evaluate("globalThis.isSamePage = true");
    }
    const syncing = rig.sync({ concurrency: 1 });
    for (const { page } of [home, runs])
      await page
        .getByText(/Run 2 of the catalogue is under way.*resources? so far/)
        .waitFor({ timeout: 60_000 });
    expect(await syncing).toMatchObject({ complete: true });
    for (const { page, mishaps } of [home, runs]) {
      await page.locator(".under-way").waitFor({ state: "detached", timeout: 60_000 });
      expect(await page.evaluate("isSamePage")).toBe(true);
      expect(await page.evaluate("policyViolations")).toEqual([]);
      expect(mishaps).toEqual([]);
    }
    const held = rig.read(({ db }) => db.prepare("select count(*) from size_current").pluck().get());
    // Values that take long to compute follow some seconds later.
    await home.page
      .locator(".figures li:last-child .big")
      .filter({ hasText: new RegExp(`^${held} of`) })
      .waitFor({ timeout: 60_000 });
    await runs.page.locator("tbody tr").first().filter({ hasText: "done" }).waitFor({ timeout: 60_000 });
  } finally {
    await browser.close();
    await server.close();
  }
});

it("at most 32 pages are kept up to date at once, and closing the server ends their streams", async () => {
  await using rig = await startRig({ brands: 1, models: 1, sizes: 1 });
  await rig.sync();
  const server = await createServer({ findCatalogue: () => rig.file, port: 0 });
  const opened: Stream[] = [];
  try {
    while (opened.length < 33) opened.push(await openStream(server, "/events/mirror"));
    expect(opened.map(({ response }) => response.statusCode)).toEqual([...Array(32).fill(200), 503]);
    opened[0]?.sent.destroy();
    // The server notices the closed connection a moment later.
    await expect.poll(async () => (await openStream(server, "/events/mirror")).response.statusCode).toBe(200);
    const last = opened[31]?.response;
    const ended = new Promise((resolve) => last?.resume().once("close", resolve));
    await server.close();
    await ended;
  } finally {
    for (const { sent } of opened) sent.destroy();
    await server.close();
  }
});
