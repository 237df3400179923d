/** The plan of the next sync as a page, from a mirror that is not complete. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { readResourceNames } from "../../src/query/lists/owner-names.ts";
import { describeAllowance, describeReach, describeTomorrow } from "../../src/sync/describe-plan.ts";
import { planSync } from "../../src/sync/plan/preview.ts";
import { createServer } from "../../src/web/server.ts";
import type { WebServer } from "../../src/web/start-servers.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";
import { send } from "./support/web-rig.ts";

let rig: Rig;
let server: WebServer;
beforeAll(async () => {
  rig = await startRig({ brands: 6, models: 40, sizes: 240 });
  await rig.sync({ budget: 12 });
  server = await createServer({ findCatalogue: () => rig.file, port: 0, clock: rig.clock });
});
afterAll(async () => {
  await server.close();
  await rig[Symbol.asyncDispose]();
});

const expected = () => planSync({ file: rig.file, baseUrl: rig.sandbox.url, clock: rig.clock });

/** As it stands in HTML. */
const escaped = (text: string) => text.replaceAll("'", "&#39;");

it("the plan is that of `armoire plan`", async () => {
  const plan = expected();
  expect(plan.next).toHaveLength(10);
  const json = JSON.parse((await send(server, "/plan.json")).body);
  const { due, next, spendable, allowance } = plan;
  expect(json).toMatchObject({ due, next, spendable, allowance });
});

it("the page says what is due, what the allowance covers, and why each request is next", async () => {
  const plan = expected();
  const { status, body } = await send(server, "/plan");
  expect(status).toBe(200);
  expect(body).toContain(escaped(describeReach(plan)));
  expect(body).toContain(`the sync is expected to make ${describeTomorrow(plan)}`);
  expect(body).toContain(escaped(describeAllowance(plan.allowance, rig.clock.now())));
  const names = rig.read((mirror) =>
    readResourceNames(
      mirror,
      plan.next.map(({ url }) => url),
    ),
  );
  // Lists are named by what they belong to, and models that are not fetched by the list that led to them.
  for (const { name, of } of names.values()) expect(body).toContain(name ?? of ?? "no name");
  const kindsNamed = plan.next.filter(({ url }) => names.get(url)?.name != null).map(({ kind }) => kind);
  expect(kindsNamed).toContain("model");
  expect(body.match(/new, most valuable first/g)?.length).toBeGreaterThan(3);
  expect(body).toContain('<figure class="chart">');
  for (const { kind, fetch } of plan.due.filter((one) => one.fetch > 0))
    expect([kind, body.includes(`>${fetch}</td>`)]).toEqual([kind, true]);
});

it.each([
  [1000, 50, false, "about 300 counted requests: all that the allowance grants in a day"],
  [350, 100, false, "about 250 counted requests: then all is held"],
  [350, null, false, "about 50 counted requests: then all is held"],
  [300, 0, false, "about 300 counted requests: all that the allowance grants in a day"],
  [
    100,
    100,
    false,
    "hardly any counted requests: all is held by then, and a check is counted only if it finds a change",
  ],
  [
    0,
    300,
    true,
    "about 300 counted requests: checks are counted, and use what the allowance grants in a day",
  ],
])(
  "with %i requests left and %s today (checks counted: %s), tomorrow takes %s",
  (left, spendable, areCounted, text) => {
    const { forecast } = expected();
    if (forecast === null) throw new Error("there is no forecast");
    const depths = forecast.depths.map((depth) => ({ ...depth, remainingRequests: left }));
    const maxStaleness = { ...forecast.maxStaleness, secondsPerDay: areCounted ? null : 1 };
    const changed = { ...forecast, requestsPerDay: 300, depths, maxStaleness };
    expect(describeTomorrow({ forecast: changed, spendable })).toBe(text);
  },
);

it("a plan has no past", async () => {
  const { status, body } = await send(server, "/plan?as-of=1");
  expect([status, body.includes("A plan is of the present")]).toEqual([200, true]);
});
