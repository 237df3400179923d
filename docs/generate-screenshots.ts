/**
 * Writes the pictures of `armoire serve` in the README, light and dark, from an invented catalogue; run by
 * `npm run docs`. It needs Chromium, as the tests do.
 */
import { join } from "node:path";
import { chromium } from "playwright-core";
import { createServer } from "../src/index.ts";
import { startSandbox } from "../src/sandbox/sandbox.ts";
import { sync } from "../src/sync/sync.ts";
import { findChromium } from "../test/support/require-chromium.ts";
import { temporaryFolder } from "../test/support/run-armoire.ts";

const daySeconds = 86_400;
const days = 11;
const pictures = [
  { name: "home", path: () => "/" },
  { name: "brand", path: (slug: string) => `/brand/${slug}` },
] as const;

const executablePath = findChromium();
if (executablePath === undefined) throw new Error("The pictures need the browser Chromium.");
await using folder = await temporaryFolder();
await using sandbox = await startSandbox({ seed: 7, brands: 60, models: 600, sizes: 4500, allowance: 420 });
const file = join(folder.path, "catalogue.sqlite");
const clock = {
  now: () => sandbox.now().getTime(),
  random: () => 0.5,
  sleep: async (_millis: number, signal?: AbortSignal) => signal?.throwIfAborted(),
};
for (let day = 0; day < days; day++) {
  await sync({ file, baseUrl: sandbox.url, serviceName: "service", clock });
  sandbox.advance({ changes: 8, additions: 2, removals: 1 });
  sandbox.moveClock({ advanceSeconds: daySeconds });
}
await sync({ file, baseUrl: sandbox.url, serviceName: "service", clock });
const daily = {
  ...{ name: "daily", cron: "0 6 * * *", tz: "UTC", command: "sync", runs: [] },
  nextAt: new Date(clock.now() + (daySeconds * 1000) / 2).toISOString(),
  lateSince: null,
  step: "minute" as const,
};
const server = await createServer({
  ...{ findCatalogue: () => file, port: 0, clock },
  readSchedules: () => ({ schedules: [daily], ofAccounts: 0 }),
});
const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox"] });
try {
  const brands = (await (await fetch(`${server.url}brands.json?sort=models&order=desc`)).json()) as {
    slug: string;
  }[];
  for (const { name, path } of pictures)
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.newPage({ colorScheme, viewport: { width: 1200, height: 900 } });
      await page.goto(new URL(path(brands[0]?.slug ?? ""), server.url).href);
      await page.screenshot({ path: join(import.meta.dirname, `serve-${name}-${colorScheme}.png`) });
      await page.close();
    }
} finally {
  await browser.close();
  await server.close();
}
