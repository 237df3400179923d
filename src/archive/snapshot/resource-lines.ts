/**
 * A line of a snapshot's index: what is known of a resource beside its body. Cells without a value are left out, and times are
 * days.
 */
import { hash } from "node:crypto";
import { z } from "zod";
import type { BookkeepingRow } from "../../mirror/bookkeeping/rows.ts";
import { kind } from "../../mirror/rows/stored-shapes.ts";
import type { SnapshotResource } from "../../mirror/snapshots/snapshot-resource.ts";

const day = z.iso.date();
const header = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/);

/** @param origin of the service */
export function resourceLineShape(origin: string) {
  /** An address of the service, as `resolveLink` writes it. */
  const url = z
    .string()
    .refine((value) => URL.parse(value)?.href === value && value.startsWith(`${origin}/`));
  return z.strictObject({
    url,
    kind,
    /** The final address, if it was redirected. */
    base_url: url.optional(),
    status: z.int().min(100).max(999),
    /** The validator: a tag, or a `Last-Modified`. */
    etag: z
      .string()
      .regex(/^[\x20-\x7e]*$/)
      .optional(),
    /** `Last-Modified`. */
    modified_at: z.iso.datetime().optional(),
    content_type: header.optional(),
    link: header.optional(),
    /** When the service last sent or confirmed the body. */
    fetched_on: day,
    /** When it was found to be gone. */
    gone_on: day.optional(),
    sha256: z.string(),
    offset: z.int(),
    length: z.int(),
  });
}

export type ResourceLine = z.infer<ReturnType<typeof resourceLineShape>>;
/** What a line says, but for the day on which that was last confirmed and the place of the body. */
export function identityOf(line: BookkeepingRow | ResourceLine): string {
  const { fetched_on: _day, offset: _offset, length: _length, ...rest } = line;
  const cells = Object.entries(rest).filter(([, value]) => value !== null && value !== undefined);
  const sorted = cells.sort(([a], [b]) => (a < b ? -1 : 1));
  return hash("sha256", JSON.stringify(sorted), "base64");
}

export const startOfDay = (day: string) => `${day}T00:00:00.000Z`;

/** @param line of a verified snapshot */
export function toResource(line: ResourceLine, readBody: SnapshotResource["readBody"]): SnapshotResource {
  const { modified_at = null, content_type = null, link = null, base_url, gone_on } = line;
  return {
    ...{ url: line.url, kind: line.kind, status: line.status, etag: line.etag ?? null },
    sha256: Buffer.from(line.sha256, "hex"),
    ...(base_url !== undefined && { finalUrl: base_url }),
    headers: { sentAt: null, modifiedAt: modified_at, contentType: content_type, link },
    fetchedAt: startOfDay(line.fetched_on),
    goneAt: gone_on === undefined ? null : startOfDay(gone_on),
    readBody,
  };
}
