import { expect, it } from "vitest";
import { summarizeOrThrow } from "../../../jobs/bullmq/worker/summarize.ts";
import { ServiceError } from "../../../src/service/errors.ts";
import type { RawResponse } from "../../../src/service/transport/send-request.ts";

const url = "https://api.example/me/bras/1";
const bra = { kind: "bra", url, isFreeIfUnchanged: true };

const answer = (status: number, body: object | string): RawResponse => ({
  head: { status, headers: { "content-type": "application/json" } },
  wire: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
  failure: null,
});
const lost: RawResponse = {
  ...{ head: null, wire: null },
  failure: new ServiceError("timeout", "no response within 30 s", { url }),
};

it.each([
  [
    answer(400, { message: "Anna has no such bra" }),
    "unexpected-status: answered 400, “Anna has no such bra”",
  ],
  [answer(403, { message: "Rate limit exceeded" }), "allowance-spent: answered 403, “Rate limit exceeded”"],
  [answer(401, {}), "not-authenticated: not authenticated (answered 401)"],
  [answer(404, { rel: "anything" }), null],
  [answer(200, { rel: "collection", collection: [] }), /^contract: expected rel "entity" of a bra/],
  [answer(200, { rel: "entity" }), "contract: not an envelope: an object expected at /body"],
  [
    answer(200, '{"rel":"entity","body":{},"body":{}}'),
    "contract: not an envelope: a single value expected at /body",
  ],
  [lost, "timeout: no response within 30 s"],
] as const)(
  "a job fails with the reason of its run; one of an account with a word of it (%#)",
  (response, reason) => {
    const summarize = (isPrivate: boolean) => () => summarizeOrThrow(bra, response, 5, isPrivate).outcome;
    if (reason === null) return expect(summarize(false)()).toBe("gone");
    expect(summarize(false)).toThrow(reason);
    expect(summarize(true)).toThrow(/^[a-z-]+$/);
  },
);
