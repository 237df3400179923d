/** What a rule can say about its fault beyond the fault's name; `docs/sandbox.md` says which fault reads which. */
import { z } from "zod";

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
