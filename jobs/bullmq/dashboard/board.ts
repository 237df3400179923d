/** Bull Board over our queues, as they come and go. What was answered is not shown, only how. */
import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { HonoAdapter } from "@bull-board/hono";
import { serveStatic } from "@hono/node-server/serve-static";
import { Queue } from "bullmq";
import type { Hono } from "hono";
import type { Redis } from "ioredis";
import { readFetchPayload, readResponses } from "../protocol.ts";
import { keyPrefix } from "../redis.ts";

export interface Board {
  readonly pages: Hono;
  /** Shows these queues from now on. @returns them, to be asked how many jobs they have */
  show(names: readonly string[]): readonly Queue[];
}

export function openBoard(client: Redis, { allowsActions }: { readonly allowsActions: boolean }): Board {
  const shown = new Map<string, { readonly queue: Queue; readonly adapter: BullMQAdapter }>();
  const serverAdapter = new HonoAdapter(serveStatic);
  const board = createBullBoard({
    queues: [],
    serverAdapter,
    options: { uiConfig: { boardTitle: "Armoire", hideRedisDetails: true } },
  });

  const open = (name: string) => {
    // Whoever only looks leaves nothing behind.
    const queue = new Queue(name, { connection: client, prefix: keyPrefix, skipMetasUpdate: true });
    queue.on("error", () => {});
    const adapter = new BullMQAdapter(queue, { readOnlyMode: !allowsActions, allowRetries: false });
    adapter.setFormatter("data", name.startsWith("answers-") ? summarizeAnswers : summarizeRequests);
    return { queue, adapter };
  };

  return {
    pages: serverAdapter.registerPlugin(),
    show(names) {
      const isNew = names.some((name) => !shown.has(name)) || names.length !== shown.size;
      for (const name of names) if (!shown.has(name)) shown.set(name, open(name));
      for (const [name, { queue }] of shown) {
        if (names.includes(name)) continue;
        shown.delete(name);
        void queue.close();
      }
      if (isNew) board.replaceQueues([...shown.values()].map(({ adapter }) => adapter));
      return [...shown.values()].map(({ queue }) => queue);
    },
  };
}

/** Without what only workers need. Jobs of others, such as schedules, are shown as they are. */
function summarizeRequests(data: unknown): unknown {
  const fetch = readFetchPayload(data);
  if ("problem" in fetch) return data;
  const { coordinator, answersTo, requests } = fetch;
  return {
    coordinator,
    answersTo,
    requests: requests.map(({ url, condition }) => ({ url, isConditional: condition.length > 0 })),
  };
}

/** Without bodies. */
function summarizeAnswers(data: unknown): unknown {
  const read = readResponses(data);
  if ("problem" in read) return read;
  return read.answers.map((answer) => {
    if (answer.end === "handed-back") return { end: answer.end };
    const status = answer.head?.status ?? null;
    return answer.end === "failed"
      ? { end: answer.end, status, code: answer.failure.code }
      : { end: answer.end, status, bytes: Buffer.byteLength(answer.wire, "base64") };
  });
}
