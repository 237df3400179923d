/**
 * A second service, written from the specification alone: it imports nothing of the project, and shares no line with
 * the sandbox. `CHOICES.md` lists what the specification leaves open and what this service does.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { type Address, type Addresses, makeAddresses } from "./addresses.ts";
import { allowanceBody, allowanceFields, Counter } from "./allowance.ts";
import { type Data, makeData } from "./data.ts";
import { docsUrl, makeDocument, type Viewer } from "./documents.ts";
import { defaults, type Options } from "./options.ts";
import { isUnchanged, makeValidators, validatorFields } from "./validators.ts";

export interface Token {
  readonly userId: number;
  readonly scopes: readonly string[];
}

export interface ReceivedRequest {
  readonly target: string;
  readonly authorization: string;
  readonly status: number;
  readonly isCounted: boolean;
}

export interface IndependentService {
  /** What the specification writes as {base_url}. */
  readonly baseUrl: string;
  readonly data: Data;
  readonly addresses: Addresses;
  /** All requests so far, in order. */
  readonly requests: readonly ReceivedRequest[];
  /** Resolves with the request that makes this many. */
  received(count: number): Promise<void>;
  /** The response to a request now, which is not counted and not among the requests. */
  read(target: string, authorization?: string): { readonly status: number; readonly text: string };
  /** Tokens by their text; add and delete to issue and revoke. */
  readonly tokens: Map<string, Token>;
  /** Choices of this service, open to changes while it runs. */
  readonly options: { -readonly [K in keyof Options]: Options[K] };
  close(): Promise<void>;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly changedAt: number | null;
}

/** Listens on a free port of 127.0.0.1. */
export async function startIndependentService(changes: Partial<Options> = {}): Promise<IndependentService> {
  const options = { ...defaults, ...changes };
  const data = makeData();
  let origin = "";
  const addresses = makeAddresses(options, data, () => origin);
  const tokens = new Map<string, Token>();
  const requests: ReceivedRequest[] = [];
  const counter = new Counter(options);
  const parts = { options, data, addresses, tokens, counter };
  const server = createServer((request, response) => {
    const authorization = request.headers.authorization ?? "";
    const isCounted = respond(request, response, parts, requests.length);
    requests.push({ target: request.url ?? "", authorization, status: response.statusCode, isCounted });
    server.emit("received");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...{ baseUrl: `${origin}${options.basePath}/`, data, addresses, requests, tokens, options },
    async received(count) {
      while (requests.length < count) await once(server, "received");
    },
    read(target, authorization = "") {
      const { status, body } = replyTo({ method: "GET", target, authorization }, parts);
      return { status, text: toText(body) };
    },
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error === undefined ? resolve() : reject(error)));
        server.closeAllConnections();
      }),
  };
}

interface Parts {
  readonly options: Options;
  readonly data: Data;
  readonly addresses: Addresses;
  readonly tokens: ReadonlyMap<string, Token>;
  readonly counter: Counter;
}

/** Returns whether the request is counted. */
function respond(
  request: IncomingMessage,
  response: ServerResponse,
  parts: Parts,
  responses: number,
): boolean {
  const { options, counter } = parts;
  const credential = request.headers.authorization ?? "";
  const before = counter.state(credential);
  const isSpent = before?.isSpent === true;
  const { method = "", url = "" } = request;
  const isRead = !isSpent || options.answersUnchangedWhenSpent;
  const reply = isRead ? replyTo({ method, target: url, authorization: credential }, parts) : undefined;
  const text = reply === undefined ? "" : toText(reply.body);
  const validators =
    reply?.status === 200 ? makeValidators(text, reply.changedAt, responses, options) : undefined;
  if (reply !== undefined && validators !== undefined && isUnchanged(request.headers, validators)) {
    send(request, response, 304, undefined, { ...validatorFields(validators), ...fieldsNow(false) });
    return false;
  }
  if (isSpent || reply === undefined) {
    send(request, response, options.refusal, toText("The allowance is spent."), fieldsNow(true));
    return false;
  }
  counter.count(credential);
  const fields = validators === undefined ? {} : validatorFields(validators);
  send(request, response, reply.status, text, { ...fields, ...fieldsNow(false) });
  return true;

  function fieldsNow(isRefusal: boolean) {
    return {
      ...allowanceFields(counter.state(credential), isRefusal, options),
      Date: new Date(options.now()).toUTCString(),
    };
  }

  function send(
    { headers }: IncomingMessage,
    to: ServerResponse,
    status: number,
    body: string | undefined,
    fields: Record<string, string>,
  ): void {
    const isGzip = body !== undefined && options.gzip && /\bgzip\b/.test(headers["accept-encoding"] ?? "");
    to.writeHead(status, {
      ...fields,
      ...(body === undefined ? {} : { "Content-Type": "application/vnd.lace+json" }),
      ...{ Vary: "Authorization, Accept-Encoding", ...(isGzip ? { "Content-Encoding": "gzip" } : {}) },
    });
    to.end(isGzip ? gzipSync(body) : body);
  }
}

interface ReadRequest {
  readonly method: string;
  readonly target: string;
  readonly authorization: string;
}

/** What the service answers to a request that the allowance covers. */
function replyTo({ method, target, authorization }: ReadRequest, parts: Parts): Reply {
  const { options, data, addresses, tokens, counter } = parts;
  if (method !== "GET") return { status: 405, body: "Only GET", changedAt: null };
  const address = addresses.read(target);
  if (address === undefined) return { status: 404, body: "No such address", changedAt: null };
  const viewer = viewerOf(authorization, tokens, data);
  const isPersonal = ["me", "bras", "bra", "measurements", "measurement"].includes(address.document);
  if (isPersonal && viewer === undefined) {
    const body = { spec: docsUrl("tokens"), message: "Not authenticated" };
    return { status: options.noToken, body, changedAt: null };
  }
  const isGranted = isCovered(address, viewer);
  if (!isGranted && typeof options.refusedScope === "number") {
    return { status: options.refusedScope, body: "Not with this token", changedAt: null };
  }
  const context = {
    ...{ options, addresses, viewer, allowance: allowanceBody(counter.state(authorization)) },
    data: isGranted ? data : { ...data, bras: [], measurements: [] },
  };
  const document = makeDocument(address, context);
  if (document === undefined) {
    const { cursor, ...first } = address;
    const isEnded = cursor !== undefined && makeDocument(first, context) !== undefined;
    return { status: isEnded ? options.endedCursor : options.removed, body: "Not here", changedAt: null };
  }
  return { status: 200, body: document.envelope, changedAt: document.changedAt };
}

/** The scheme word is `bearer` as the specification writes it, in lower case. */
function viewerOf(authorization: string, tokens: ReadonlyMap<string, Token>, data: Data): Viewer | undefined {
  const token = authorization.startsWith("bearer ") ? tokens.get(authorization.slice(7)) : undefined;
  const user = data.users.find(({ id }) => id === token?.userId);
  return user === undefined || token === undefined ? undefined : { user, scopes: token.scopes };
}

function isCovered({ document }: Address, viewer: Viewer | undefined): boolean {
  const scope = { bras: "wardrobe", bra: "wardrobe", measurements: "tape", measurement: "tape" } as Record<
    string,
    string
  >;
  const needed = scope[document];
  return needed === undefined || viewer?.scopes.includes(needed) === true;
}

/** Characters beyond ASCII are sent as escapes, and the text is indented. */
function toText(value: unknown): string {
  const text = JSON.stringify(value, null, 1);
  return `${text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`;
}
