/** The forecast of an account's plan, compared with the syncs that follow. */
import { expect, it } from "vitest";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { planSync } from "../../../src/sync/plan/preview.ts";
import type { SyncOptions } from "../../../src/sync/sync.ts";
import { startRig } from "../support/rig.ts";

it("an account's plan forecasts requests and days once the lists are read, as the syncs then take", async () => {
  await using rig = await startRig({ allowance: 10, pageSize: 50, countRoot: true });
  const { file, clock, sandbox } = rig;
  const options: Partial<SyncOptions> = {
    ...{ area: "account", credential: bearerToken(sandbox.users[0]?.token ?? "") },
  };
  const plan = () => planSync({ file, baseUrl: sandbox.url, clock, ...options });
  const fetchesIn = ({ due }: ReturnType<typeof plan>) => due.reduce((sum, { fetch }) => sum + fetch, 0);

  expect(plan().accountForecast).toEqual({
    isWhole: false,
    remainingRequests: 1,
    requestsPerDay: null,
    days: null,
  });
  const first = await rig.sync(options);
  const planned = plan();
  expect(first).toMatchObject({ stopped: "allowance", requests: { sent: 10 } });
  expect(planned.accountForecast).toMatchObject({
    isWhole: true,
    remainingRequests: first.resources.pending,
  });
  expect(fetchesIn(planned)).toBe(first.resources.pending);

  // Nothing was sent, so nothing else is due. Checks that every run makes are not pending.
  const idle = await rig.sync(options);
  expect(idle).toMatchObject({ requests: { sent: 0 }, resources: { pending: first.resources.pending } });
  expect(idle.resources.notChecked).toBe(10);

  let days = 0;
  for (let complete = false; !complete && days < 20; days++) {
    sandbox.moveClock({ advanceSeconds: 86_401 });
    ({ complete } = await rig.sync(options));
  }
  expect(days).toBe(planned.accountForecast?.days);
  expect(plan().accountForecast).toMatchObject({ isWhole: true, remainingRequests: 0, days: 0 });
});
