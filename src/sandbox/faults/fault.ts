/**
 * What a fault is: something done to a reply that would have been right. In: the right reply. Out: the wrong one. Each
 * acts where it is simplest to say: on the envelope, on the body's text, or on the whole reply, the socket included.
 */

import { z } from "zod";
import { type EtagStyle, etagOf } from "../http/content.ts";
import { type Reply, withBody, withHeader } from "../http/reply.ts";
import type { SentEnvelope } from "../resources/view.ts";

export interface FaultContext {
  /** As it was asked for. */
  readonly url: string;
  readonly nowMillis: number;
  readonly etagStyle: EtagStyle;
  /** Another resource of the catalogue as it is sent when nothing is wrong. */
  readonly envelopeAt: (url: string) => SentEnvelope | null;
  readonly parameters: FaultParameters;
}

export type EnvelopeFault = (envelope: LooseObject, context: FaultContext) => unknown;
export type TextFault = (text: string, context: FaultContext) => string | Buffer;
export type ReplyFault = (reply: Reply, context: FaultContext) => Reply;

/** A parsed envelope, to be taken apart. */
export type LooseObject = { [name: string]: unknown };

export function onEnvelope(fault: EnvelopeFault): ReplyFault {
  return onText((text, context) => JSON.stringify(fault(JSON.parse(text) as LooseObject, context)));
}

/** The body that comes out has an ETag of its own, as if the service meant it. */
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

/** An envelope's member as an object, to be changed in place; an empty one of no effect when it is none. */
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

/** What a rule can say about its fault beyond the fault's name; `docs/sandbox.md` says which fault reads which. */

export const faultParameters = z
  .strictObject({
    /** HTTP status. */
    status: z.int().min(200).max(599),
    /** `Retry-After`: as given, or `@120`, `@-60`: an HTTP date so many seconds from now. Several make several headers. */
    retryAfter: z.union([z.string(), z.array(z.string())]),
    /** A URL, which may hold `{url}`, `{origin}`, `{host}` and `{path}` of the request. */
    target: z.string(),
    /** The one link to touch; all of them by default. */
    link: z.string(),
    /** A header's name. */
    name: z.string().regex(/^[\w-]+$/),
    /** Any JSON: what is put in place of something. */
    value: z.json(),
    /** A JSON pointer into the envelope, where `*` stands for every member or item. */
    pointer: z.string().startsWith("/"),
    /** Where the body is cut: bytes, a fraction below 1, or bytes from the end when negative. */
    at: z.number(),
    framing: z.enum(["length", "chunked", "close", "gzip"]),
    /** Milliseconds before a reply, or between two bytes. */
    millis: z.int().min(0),
    bytes: z.int().min(1),
    count: z.int().min(1),
    /** Items that seem inserted before this page (removed, when negative). */
    by: z.int(),
  })
  .partial();

export type FaultParameters = z.infer<typeof faultParameters>;
