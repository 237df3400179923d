import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { ResourceResult } from "../../../src/mirror/ingest.ts";
import { openRunMirror } from "../../../src/sync/writer/client.ts";
import { noHeaders } from "../../support/no-headers.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";

let folder = "";
beforeAll(async () => {
  const temporary = await temporaryFolder();
  folder = temporary.path;
  return () => temporary[Symbol.asyncDispose]();
});

const text = JSON.stringify({ rel: "resource", links: {}, meta: {}, spec: null });

const identity = { baseUrl: "http://127.0.0.1/", area: "catalogue", serviceName: "service" } as const;
const openedAt = "2026-01-15T12:00:00.000Z";

function open(name: string) {
  return openRunMirror({ file: join(folder, name), identity, openedAt });
}

test("a thread writes one mirror after the other, and two open mirrors have a thread each", async () => {
  const beginRun = async (name: string) => {
    const mirror = await open(name);
    await mirror.writes.beginRun({ startedAt: openedAt, mode: "incremental", scope: {} });
    return mirror;
  };
  const first = await beginRun("first.sqlite");
  const second = await beginRun("second.sqlite");
  await expect(open("first.sqlite")).rejects.toMatchObject({ code: "locked" });
  await first.close();
  for (const name of ["first.sqlite", "third.sqlite", "first.sqlite"]) await (await beginRun(name)).close();
  await second.close();
  const runsOf = async (name: string) => {
    const { reader, close } = await open(name);
    const count = reader.db.prepare("select count(*) from _run").pluck().get();
    await close();
    return count;
  };
  expect(await runsOf("first.sqlite")).toBe(3);
  expect(await runsOf("second.sqlite")).toBe(1);
  expect(await runsOf("third.sqlite")).toBe(1);
});

test("bodies reach the thread unchanged, with buffers of their own or a shared one", async () => {
  const mirror = await open("mirror.sqlite");
  try {
    const { writes, reader } = mirror;
    const runId = await writes.beginRun({ startedAt: openedAt, mode: "incremental", scope: {} });
    await writes.addRoot(runId);
    const own = new Uint8Array(Buffer.from(text));
    const shared = Buffer.from(`${text}\n${text}`);
    const resultWith = (body: Uint8Array): ResourceResult => {
      return {
        resourceId: 1,
        fetchedAt: openedAt,
        outcome: "body",
        status: 200,
        etag: null,
        headers: noHeaders,
        body,
      };
    };
    const bodies = [own, own, shared.subarray(0, text.length), shared.subarray(text.length)];
    const summary = await writes.ingest(bodies.map(resultWith), runId);
    expect(summary).toMatchObject({ new: 1, unchanged: 2, changed: 1, failed: 0 });
    expect(own.byteLength).toBe(0);
    expect(shared.toString()).toBe(`${text}\n${text}`);
    const stored = reader.db.prepare<[], Buffer>("select body from _content order by id").pluck().all();
    expect(stored.map(String)).toEqual([text, `\n${text}`]);
  } finally {
    await mirror.close();
  }
});
