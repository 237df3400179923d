import { expect, it } from "vitest";
import { PendingRequests } from "../../../jobs/bullmq/coordinator/pending-requests.ts";
import type { RawResponse } from "../../../src/service/transport/send-request.ts";

const request = { url: "https://api.example/brands", condition: [], signal: undefined };
const completion = { requeueCount: 0, resolve: () => {}, reject: () => {} };

it("a request that is queued again has a new id and no job, so that late responses to its first job are dropped", () => {
  const pending = new PendingRequests("c");
  const first = pending.add(request, completion);
  first.jobId = "c.1";
  pending.remove(first.id);
  const second = pending.add(request, { ...first, requeueCount: 1 });
  expect(second).toMatchObject({ requeueCount: 1, jobId: null });
  expect(pending.remove(first.id)).toBeUndefined();
  expect(pending.remove(second.id)).toBe(second);
});

it("a lost job fails exactly its own requests", () => {
  const pending = new PendingRequests("c");
  const responses: RawResponse[] = [];
  const resolve = (response: RawResponse) => void responses.push(response);
  const lost = pending.add(request, { ...completion, resolve });
  const unrelated = pending.add({ ...request }, completion);
  lost.jobId = "c.1";
  unrelated.jobId = "c.2";
  pending.failJob("c.1", "worker-lost", "its worker was lost");
  expect(responses).toMatchObject([{ head: null, failure: { code: "worker-lost" } }]);
  expect(pending.has(lost)).toBe(false);
  expect(pending.has(unrelated)).toBe(true);
});
