import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, it, vi } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { sync } from "../../src/sync/sync.ts";
import { createValuesThread } from "../../src/web/values/values-client.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

it("a value that a page waits for is computed before those that only replace older ones", async () => {
  await using folder = await temporaryFolder();
  const request = {
    file: join(folder.path, "none"),
    run: null,
    context: { now: 0, ledgerFile: "" },
    args: [],
  };
  const values = createValuesThread();
  const order: string[] = [];
  const compute = (name: "kinds" | "days" | "plan") => {
    const computation = values.compute({ ...request, name });
    return { ...computation, computed: computation.computed.then(() => order.push(name)) };
  };
  const computations = [compute("kinds"), compute("days"), compute("plan")];
  computations[2]?.hasten();
  await Promise.all(computations.map(({ computed }) => computed));
  values.close();
  expect(order).toEqual(["plan", "kinds", "days"]);
});

it("the thread of slow values ends when it is idle, and the next value starts another", async () => {
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox({ brands: 2, models: 2, sizes: 2 });
  const file = join(folder.path, "catalogue.sqlite");
  await sync({ file, baseUrl: sandbox.url });
  const context = { now: Date.now(), ledgerFile: join(folder.path, "ledger.sqlite") };
  const ends = vi.spyOn(Worker.prototype, "terminate");
  const values = createValuesThread(0);
  try {
    const request = { file, run: null, name: "kinds" as const, context, args: [] };
    for (let thread = 1; thread <= 2; thread++) {
      const computed = await values.compute(request).computed;
      expect(JSON.stringify(computed?.value)).toContain('"brand"');
      await vi.waitUntil(() => ends.mock.calls.length >= thread, { timeout: 80_000 });
    }
    expect(new Set(ends.mock.contexts).size).toBe(2);
  } finally {
    values.close();
    ends.mockRestore();
  }
});
