/**
 * Reads the summaries of items in a collection. In: an item. Out: its `href` as sent, and its name, which is shown until the
 * item itself is fetched. Other fields stay only in the collection's revision.
 */
import { z } from "zod";
import { type FieldIssue, readFields } from "./envelope.ts";
import { text, url } from "./fields.ts";
import type { IssueSink } from "./input/issues.ts";

export interface Summary {
  readonly fields: z.ZodObject<z.ZodRawShape>;
  /** The field with the name for display. */
  readonly nameField: string;
}

const reference = z.object({ service_url: url, href: url, name: text, size: text }).nullish();

/** Brands and models (sections 2.7 and 2.9). */
export const namedSummary: Summary = {
  fields: z.object({ service_url: url, href: url, name: text }),
  nameField: "name",
};

/** Sizes (field notes). */
export const sizeSummary: Summary = {
  fields: z.object({ service_url: url, href: url, size: text }),
  nameField: "size",
};

/** A user's bras (section 2.4). */
export const braSummary: Summary = {
  fields: z.object({
    service_url: url,
    name: text,
    brand: reference,
    is_owned: z.boolean().nullish(),
    href: url,
    model: reference,
    size: reference,
  }),
  nameField: "name",
};

/** Measurements, whose fields are not specified. */
export const openSummary: Summary = { fields: z.object({ href: url, name: text }), nameField: "name" };

/** @param at the item's JSON pointer, for issues */
export function readSummary(
  summary: Summary,
  item: Readonly<Record<string, unknown>>,
  at: string,
  issues: IssueSink<FieldIssue>,
): { href: string | null; name: string | null } {
  const fields: Record<string, unknown> = readFields(summary.fields, item, at, issues);
  const { href, [summary.nameField]: name } = fields;
  return { href: typeof href === "string" ? href : null, name: typeof name === "string" ? name : null };
}
