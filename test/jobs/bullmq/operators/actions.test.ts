import { expect, it } from "vitest";
import { isSafeAction } from "../../../../jobs/bullmq/operators/actions.ts";

it.each([
  "/api/queues/pause",
  "/api/queues/q/resume",
  "/api/queues/q/empty",
  "/api/queues/q/clean/waiting",
  "/api/queues/q/42/clean",
  "/api/queues/q/42/promote",
  "/api/queues/fetch-catalogue%40x~v2/42/retry",
  "/api/queues/fetch-catalogue%40x~v2~0a1b/retry/failed",
])("people may do %s", (path) => {
  expect(isSafeAction(path)).toBe(true);
});

it.each([
  "/api/queues/q/add",
  "/api/queues/q/42/retry",
  "/api/queues/q/42/update-data",
  "/api/queues/q/retry/failed",
  "/api/queues/fetch-catalogue%40x~v1/42/retry",
  "/api/queues/sync-catalogue%40x/42/retry",
  "/api/queues/fetch-catalogue%40x~v2/retry/completed",
  "/api/queues/q/rate-limit/release",
  "/api/queues/q/job-schedulers/s/run",
  "/api/queues/q/concurrency",
])("people may not do %s, which would send requests without a permit", (path) => {
  expect(isSafeAction(path)).toBe(false);
});
