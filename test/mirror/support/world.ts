/** A service in memory: bodies by URL. All other URLs return 404. */

import { createHash } from "node:crypto";
import type { ResourceResult } from "../../../src/mirror/ingest.ts";
import type { DueResource } from "../../../src/mirror/scope.ts";
import type { TruthRecord } from "../../../src/sandbox/resources/catalogue.ts";
import { noHeaders } from "../../support/no-headers.ts";

export const baseUrl = "https://catalogue.example/";

/** URL to verbatim body. */
export interface World {
  get(url: string): string | undefined;
}

/** @param bodies path to body, as text or as a value for JSON */
export function worldOf(bodies: Readonly<Record<string, object | string>>): Map<string, string> {
  return new Map(
    Object.entries(bodies).map(([path, body]) => [
      urlOf(path),
      typeof body === "string" ? body : JSON.stringify(body),
    ]),
  );
}

/** The sandbox's current bodies. */
export function worldOfTruth(records: Iterable<TruthRecord>): Map<string, string> {
  return new Map([...records].map(({ url, body }) => [url, JSON.stringify(body)]));
}

export function urlOf(path: string): string {
  return new URL(path, baseUrl).href;
}

/** The result of a conditional request with the held ETag. */
export function resultFrom(
  world: World,
  { id, url, etag }: Pick<DueResource, "id" | "url" | "etag">,
): ResourceResult {
  const common = { resourceId: id, fetchedAt: "2026-01-15T12:00:00.000Z" };
  const text = world.get(url);
  if (text === undefined) return { ...common, outcome: "gone" };
  const body = Buffer.from(text);
  const current = etagOf(body);
  return current === etag
    ? { ...common, outcome: "not-modified" }
    : { ...common, outcome: "body", status: 200, etag: current, headers: noHeaders, body };
}

export function etagOf(body: Uint8Array): string {
  return `"${sha256Of(body).slice(0, 16)}"`;
}

/** In hex. */
export function sha256Of(body: string | Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}

export function root(links: Readonly<Record<string, unknown>> = { brands: urlOf("brands/") }): object {
  return { self: baseUrl, rel: "resource", spec: null, links, meta: { welcome: "Welcome" } };
}

export function entity(
  body: object,
  links: Readonly<Record<string, unknown>> = {},
  meta: object = {},
): object {
  return { rel: "entity", spec: null, links, meta, body };
}

/** A page of a collection. @param items paths @param more of `meta`, such as `collection_total` */
export function page(
  items: readonly string[],
  next: string | null = null,
  links: Readonly<Record<string, unknown>> = {},
  more: object = {},
): object {
  return {
    rel: "collection",
    spec: null,
    links,
    meta: { paginated: true, next: next === null ? null : urlOf(next), ...more },
    collection: items.map((path) => ({ href: urlOf(path), name: `The ${path}` })),
  };
}
