/** What the first page says of the last run and the next one, and the pages of resources of their own lists. */
import { expect, it } from "vitest";
import { createServer } from "../../src/web/server.ts";
import type { ServerOptions } from "../../src/web/start-servers.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";
import { send } from "./support/web-rig.ts";

async function textAt(rig: Rig, path: string, options: Partial<ServerOptions> = {}): Promise<string> {
  const server = await createServer({
    findCatalogue: () => rig.file,
    ...{ port: 0, clock: rig.clock },
    ...options,
  });
  const { body } = await send(server, path);
  await server.close();
  return body.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
}

const scheduled = (
  outcome: string,
  details: string,
  lateSince: string | null = null,
  cron = "0 6 * * *",
) => ({
  readSchedules: () => ({
    ofAccounts: 0,
    schedules: [
      {
        ...({
          name: "nightly",
          cron,
          tz: "UTC",
          command: "sync",
          step: cron.split(" ").length > 5 ? "second" : "minute",
        } as const),
        nextAt: "2099-01-01T06:00:37.000Z",
        lateSince,
        runs: [{ startedAt: "2025-01-01T06:00:00.000Z", seconds: 1, outcome, details }],
      },
    ],
  }),
});

it("a run that spent its budget was all right, and the rest is still to fetch", async () => {
  await using rig = await startRig({ brands: 2, models: 12, sizes: 60, allowance: 10 });
  await rig.sync();
  const text = await textAt(rig, "/", scheduled("done", ""));
  expect(text).toMatch(
    /The last run was all right \. Run 1 of the catalogue, .* ago: \d+ new, 0 changed, 0 gone; allowance used up\./,
  );
  expect(text).toMatch(/next run nightly , 2099-01-01 06:00 UTC/);
  expect(text).toMatch(/still to fetch about \d+ requests, which take \d+ days at 10 a day \( plan \)/);
  expect(text).not.toContain("schedules nightly");
  expect(text.indexOf("half were checked")).toBeLessThan(text.indexOf("The last run"));
  // One schedule has one next time, whichever page shows it.
  expect(await textAt(rig, "/schedules", scheduled("done", ""))).toContain("2099-01-01 06:00 UTC");
  const toTheSecond = scheduled("done", "", null, "37 0 6 * * *");
  for (const page of ["/", "/schedules"])
    expect(await textAt(rig, page, toTheSecond)).toContain("2099-01-01 06:00:37 UTC");
});

it("failed resources are said instead, and a schedule whose last run ended badly", async () => {
  await using rig = await startRig({
    ...{ brands: 2, models: 4, sizes: 8 },
    faults: [{ kind: "model", positions: [1], fault: "status", status: 400 }],
  });
  await rig.sync();
  const text = await textAt(rig, "/", scheduled("locked", "another sync runs"));
  expect(text).toMatch(
    /The last run was not all right: 1 resource failed \. Run 1 of the catalogue, .* ago: \d+ new/,
  );
  expect(text).toMatch(/schedules nightly locked , .* ago: another sync runs/);
  expect(text.indexOf("1 resource failed")).toBeLessThan(text.indexOf("half were checked"));
  const late = await textAt(rig, "/", scheduled("done", "", "2025-01-02T06:00:00.000Z"));
  expect(late).toMatch(/schedules nightly late: the run of 2025-01-02 06:00 UTC has not begun/);
  expect(await textAt(rig, "/schedules", scheduled("locked", ""))).toMatch(/nightly .* locked , .* ago/);
});

it("the page of a brand or of a model says what its own list lacks", async () => {
  await using rig = await startRig({ brands: 1, models: 12, sizes: 40, pageSize: 5, paginateSizes: true });
  await rig.sync({ depth: "models", budget: 5 });
  const key = (table: string) =>
    rig.read(({ db }) => db.prepare(`select slug from ${table} limit 1`).pluck().get()) as string;
  const brand = await textAt(rig, `/brand/${key("brand")}`);
  expect(brand).toMatch(
    /The list of models is not fetched to its end: there may be more\. \d of \d known models not fetched yet\./,
  );
  expect(await textAt(rig, `/brand/${key("brand")}/${key("model")}`)).toContain(
    "The list of sizes is not fetched yet.",
  );
  await rig.sync({ depth: "models" });
  expect(await textAt(rig, `/brand/${key("brand")}`)).not.toContain("The list of models");
});
