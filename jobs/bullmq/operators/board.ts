/** Bull Board, showing the queues that exist now. Job data is summarized: no bodies, no proofs. */
import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { HonoAdapter } from "@bull-board/hono";
import { serveStatic } from "@hono/node-server/serve-static";
import type { Queue } from "bullmq";
import type { Hono } from "hono";
import { readFetchPayload, readResponses } from "../protocol.ts";
import { isOfOtherVersion, isOwnFetchQueue, isResponseQueue, readableService } from "../queue-names.ts";

export interface Board {
  /** To be mounted at `path`. */
  readonly pages: Hono;
  /** Shows exactly these queues. */
  show(queues: readonly Queue[]): void;
}

export interface BoardOptions {
  /** Of its pages, such as `/queues`. */
  readonly path: string;
  readonly allowsActions: boolean;
}

export function openBoard({ path, allowsActions }: BoardOptions): Board {
  let shown: readonly Queue[] = [];
  const serverAdapter = new HonoAdapter(serveStatic).setBasePath(path);
  const board = createBullBoard({
    queues: [],
    serverAdapter,
    options: { uiConfig: { boardTitle: "Armoire", hideRedisDetails: true } },
  });

  const adapterOf = (queue: Queue) => {
    const { name } = queue;
    const adapter = new BullMQAdapter(queue, {
      ...{ readOnlyMode: !allowsActions, allowRetries: isOwnFetchQueue(name), allowCompletedRetries: false },
      ...describeQueue(name),
    });
    adapter.setFormatter("name", titleOf);
    adapter.setFormatter("data", isResponseQueue(name) ? summarizeResponses : summarizeRequests);
    return adapter;
  };

  return {
    pages: serverAdapter.registerPlugin(),
    show(queues) {
      if (queues.length === shown.length && queues.every((queue) => shown.includes(queue))) return;
      shown = [...queues];
      board.replaceQueues(shown.map(adapterOf));
    },
  };
}

/** How the list of queues shows one. */
function describeQueue(name: string): { readonly displayName: string; readonly description: string } {
  const [, what = "", who = "", where = ""] =
    /^(fetch|sync|schedules)-([^@~]*)(?:@([^~]*))?/.exec(name) ?? [];
  const place = readableService(where);
  if (what === "sync")
    return {
      displayName: `sync: ${who} at ${place}`,
      description: `One job is one run of \`armoire sync\` at ${place}: its progress, its log and its report.`,
    };
  if (what === "fetch" && isOfOtherVersion(name))
    return {
      displayName: `fetch: ${who} at ${place} (other version)`,
      description: `Requests to ${place} for workers of another version of Armoire.`,
    };
  if (what === "fetch")
    return {
      displayName: `fetch: ${who} at ${place}`,
      description: `One job is one resource of ${place}; workers with the same credential send its request.`,
    };
  if (isResponseQueue(name))
    return {
      displayName: "responses",
      description: "Responses on their way to a running sync. Empty, unless its coordinator is busy.",
    };
  if (what === "schedules")
    return {
      displayName: `schedules: ${who}`,
      description:
        "One job is one run of a schedule of this mirror: its command, and the counts of its report.",
    };
  return { displayName: name, description: "" };
}

/** The name of a job, and what it is about if that may be shown: `model  Comexim › Lupine`. */
function titleOf({ name, data }: { readonly name: string; readonly data: unknown }): string {
  const payload = readFetchPayload(data);
  return "problem" in payload || payload.label === null ? name : `${name}  ${payload.label}`;
}

/** Jobs of other kinds, such as schedules, are shown as they are. */
function summarizeRequests(data: unknown): unknown {
  const payload = readFetchPayload(data);
  if ("problem" in payload) return data;
  const { run, kind, url, label, attempt, condition } = payload;
  return { run, kind, url, label, attempt, isConditional: condition.length > 0 };
}

function summarizeResponses(data: unknown): unknown {
  const payload = readResponses(data);
  if ("problem" in payload) return payload;
  return payload.responses.map((response) => {
    const { outcome } = response;
    if (response.outcome === "unsent") return { outcome };
    const status = response.head?.status ?? null;
    return response.outcome === "failed"
      ? { outcome, status, code: response.failure.code }
      : { outcome, status, bytes: Buffer.byteLength(response.wire, "base64") };
  });
}
