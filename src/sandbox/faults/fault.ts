/**
 * A fault changes a correct reply into a wrong one. It acts on the envelope, on the body's text, or on the whole reply
 * including the socket, wherever it is simplest to express.
 */

import { z } from "zod";
import { type EtagStyle, etagOf } from "../http/content.ts";
import { type Reply, withBody, withHeader } from "../http/reply.ts";
import type { SentEnvelope } from "../resources/view.ts";

export interface FaultContext {
  /** The requested URL. */
  readonly url: string;
  readonly nowMillis: number;
  readonly etagStyle: EtagStyle;
  /** The correct envelope of another resource. */
  readonly envelopeAt: (url: string) => SentEnvelope | null;
  readonly parameters: FaultParameters;
}

export type EnvelopeFault = (envelope: LooseObject, context: FaultContext) => unknown;
export type TextFault = (text: string, context: FaultContext) => string | Buffer;
export type ReplyFault = (reply: Reply, context: FaultContext) => Reply;

/** A parsed envelope that faults may change. */
export type LooseObject = { [name: string]: unknown };

export function onEnvelope(fault: EnvelopeFault): ReplyFault {
  return onText((text, context) => JSON.stringify(fault(JSON.parse(text) as LooseObject, context)));
}

/** The changed body gets its own ETag, as if it were correct. */
export function onText(fault: TextFault): ReplyFault {
  return (reply, context) => {
    const body = Buffer.from(fault(reply.body.toString(), context));
    const etag = etagOf(body, context.etagStyle);
    return withHeader(withBody(reply, body), "ETag", ...(etag === null ? [] : [etag]));
  };
}

export function isObject(value: unknown): value is LooseObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An envelope's member as an object that can be changed in place; a detached empty one if it is not an object. */
export function objectIn(envelope: LooseObject, name: string): LooseObject {
  const value = envelope[name];
  return isObject(value) ? value : {};
}

export function itemsIn(envelope: LooseObject): LooseObject[] {
  return Array.isArray(envelope.collection) ? envelope.collection.filter(isObject) : [];
}

/** Fills `{url}`, `{origin}`, `{host}` and `{path}` with those of a URL. */
export function fillIn(template: string, url: string): string {
  const { origin, host, pathname, search } = new URL(url);
  const values: Readonly<Record<string, string>> = { url, origin, host, path: pathname + search };
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** A rule's parameters for its fault; `docs/sandbox.md` lists the parameters of each fault. */

export const faultParameters = z
  .strictObject({
    /** HTTP status. */
    status: z.int().min(200).max(599),
    /** `Retry-After`: as given, or `@120`, `@-60` for an HTTP date relative to now, in seconds. An array makes several headers. */
    retryAfter: z.union([z.string(), z.array(z.string())]),
    /** A URL; it may contain `{url}`, `{origin}`, `{host}` and `{path}` of the request. */
    target: z.string(),
    /** The link to change; default: all. */
    link: z.string(),
    /** A header's name. */
    name: z.string().regex(/^[\w-]+$/),
    /** The replacement: any JSON. */
    value: z.json(),
    /** A JSON pointer into the envelope; `*` matches every member or item. */
    pointer: z.string().startsWith("/"),
    /** Where the body is cut: bytes, a fraction below 1, or, if negative, bytes from the end. */
    at: z.number(),
    framing: z.enum(["length", "chunked", "close", "gzip"]),
    /** Milliseconds before a reply, or between two bytes. */
    millis: z.int().min(0),
    bytes: z.int().min(1),
    count: z.int().min(1),
    /** Number of items that seem inserted before this page; negative: removed. */
    by: z.int(),
  })
  .partial();

export type FaultParameters = z.infer<typeof faultParameters>;
