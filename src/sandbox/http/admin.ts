/**
 * The administration API under `/__sandbox/`, for tests and demonstrations in other processes. Its requests are never
 * counted, logged, delayed or changed by faults.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { type UserEdit, userEdit } from "../accounts/users.ts";
import type { AdvanceReport, AdvanceRequest } from "../advance.ts";
import type { ClockMove } from "../clock.ts";
import { faultPresetNames, faultRules } from "../faults/fault-rules.ts";
import { type FaultsOption, firstIssue } from "../options.ts";
import type { TruthOptions, TruthRecord } from "../resources/catalogue.ts";
import { entityKinds } from "../world/edits.ts";
import { deliverWhole, jsonReply } from "./reply.ts";
import type { RequestLog } from "./request-log.ts";

export type Admin = (request: IncomingMessage, response: ServerResponse, origin: string) => Promise<void>;

export interface AdminParts {
  readonly advance: (request: AdvanceRequest, origin: string) => AdvanceReport;
  readonly truth: (options: TruthOptions, origin: string) => Iterable<TruthRecord>;
  readonly moveClock: (move: ClockMove) => Date;
  readonly setFaults: (faults: FaultsOption) => void;
  readonly editUser: (username: string, edit: UserEdit) => void;
  readonly log: RequestLog;
}

const count = z.int().min(0).max(100_000);
const clockMove = z.union([
  z.strictObject({ advanceSeconds: z.number() }),
  z.strictObject({ now: z.iso.datetime({ offset: true }) }),
]);
const advanceRequest = z
  .strictObject({
    steps: count,
    changes: count,
    additions: count,
    removals: count,
    returns: count,
    moves: count,
    kind: z.enum(entityKinds),
  })
  .partial();
const userEditBody = userEdit.extend({ username: z.string() });
const faultsBody = z.union([z.enum(faultPresetNames), faultRules]);

const maxBodyBytes = 2 ** 20;
const recordsPerWrite = 200;

export function createAdmin({ advance, truth, moveClock, setFaults, editUser, log }: AdminParts): Admin {
  type Handler = (request: IncomingMessage, query: URLSearchParams, origin: string) => Promise<unknown>;
  const handlers: Readonly<Record<string, Handler>> = {
    "POST clock": async (request) => ({
      now: moveClock(clockMove.parse(await readJson(request))).toISOString(),
    }),
    "POST advance": async (request, _query, origin) =>
      advance(withoutUndefined(advanceRequest.parse(await readJson(request))), origin),
    "PUT faults": async (request) => {
      const faults = faultsBody.parse(await readJson(request));
      setFaults(faults);
      return { faults };
    },
    "POST users": async (request) => {
      const { username, ...edit } = userEditBody.parse(await readJson(request));
      editUser(username, edit);
      return { username, ...edit };
    },
    "GET log": async (_request, query) => log.read(Number(query.get("since") ?? 0) || 0),
    "DELETE log": async () => {
      log.clear();
      return {};
    },
  };
  return async (request, response, origin) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", origin);
    const name = pathname.split("/")[2] ?? "";
    try {
      if (request.method === "GET" && name === "truth") {
        await sendLines(response, truth({ optional: searchParams.get("optional") === "1" }, origin));
        return;
      }
      const handler = handlers[`${request.method} ${name}`];
      const reply = handler
        ? jsonReply(200, await handler(request, searchParams, origin))
        : jsonReply(404, {
            message: "No such administration: there are clock, advance, faults, users, log and truth",
          });
      deliverWhole(response, reply);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else deliverWhole(response, jsonReply(400, { message: messageOf(name, error) }));
    }
  };
}

function messageOf(name: string, error: unknown): string {
  if (error instanceof z.ZodError) return firstIssue(name, error);
  return error instanceof Error ? error.message : String(error);
}

async function sendLines(response: ServerResponse, records: Iterable<TruthRecord>): Promise<void> {
  response.writeHead(200, { "Content-Type": "application/x-ndjson" });
  await pipeline(Readable.from(inBatches(records)), response);
}

function* inBatches(records: Iterable<TruthRecord>): Generator<string> {
  let batch: string[] = [];
  for (const record of records) {
    batch.push(`${JSON.stringify(record)}\n`);
    if (batch.length < recordsPerWrite) continue;
    yield batch.join("");
    batch = [];
  }
  yield batch.join("");
}

/** An empty body is an empty object. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new RangeError(`The body is longer than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  return text === "" ? {} : JSON.parse(text);
}

function withoutUndefined(request: z.output<typeof advanceRequest>): AdvanceRequest {
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
}
