/** Jobs as OpenTelemetry spans, with a real SDK that exports to memory. */
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { afterAll, beforeEach, expect, it } from "vitest";
import { loadTelemetry } from "../../../jobs/bullmq/queues.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { startRedis } from "../../support/redis.ts";
import { catalogueAt, startFetchWorkers } from "../../support/workers.ts";
import { startRig } from "../../sync/support/rig.ts";

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();
beforeEach(() => exporter.reset());
afterAll(() => provider.shutdown());

const world = { brands: 2, models: 4, sizes: 8 };

it("a resource's job is a span of the worker, in the trace of the coordinator that queued it", async () => {
  await using redis = await startRedis();
  await using rig = await startRig(world);
  const principals = [catalogueAt(rig.sandbox.url)];
  {
    await using _workers = await startFetchWorkers(1, { redis: redis.url, principals, telemetry: true });
    await rig.sync({ workers: { redis: redis.url, telemetry: true } });
  }
  const spans = exporter.getFinishedSpans();
  const processed = spans.filter(
    ({ name, attributes }) => name.startsWith("process") && attributes["bullmq.job.name"] === "model",
  );
  expect(processed).toHaveLength(world.models);
  const queued = new Set(
    spans.filter(({ name }) => name.startsWith("addBulk")).map((span) => span.spanContext().traceId),
  );
  for (const span of processed) expect(queued).toContain(span.spanContext().traceId);
});

it("without the option, and for accounts, there are no spans", async () => {
  await using redis = await startRedis();
  await using rig = await startRig(world);
  const credential = bearerToken(rig.sandbox.users[0]?.token ?? "");
  const anna = { name: "anna", baseUrl: rig.sandbox.url, credential };
  {
    await using _workers = await startFetchWorkers(1, {
      ...{ redis: redis.url, principals: [anna], telemetry: true },
    });
    const workers = { redis: redis.url, principal: "anna", telemetry: true };
    await rig.sync({ workers, credential, area: "account" });
  }
  {
    await using _workers = await startFetchWorkers(1, {
      ...{ redis: redis.url, principals: [catalogueAt(rig.sandbox.url)] },
    });
    await rig.sync({ workers: { redis: redis.url }, file: `${rig.file}.2` });
  }
  expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual([]);
});

it("without the optional package, the error says how to install it", async () => {
  const missing = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
  await expect(loadTelemetry(() => Promise.reject(missing))).rejects.toMatchObject({
    ...{ name: "TelemetryError", code: "not-installed", hint: expect.stringContaining("npm install") },
  });
});
