/** Pagination faults: loops, endless chains, wrong totals, items that shift between pages. */
import type { SentEnvelope } from "../resources/view.ts";
import { type EnvelopeFault, objectIn } from "./fault.ts";

export const pageFaults = {
  "next-self": (envelope, { url }) => withMeta(envelope, { next: url }),

  "next-earlier": (envelope) => {
    const { prev, current } = objectIn(envelope, "meta");
    return withMeta(envelope, { next: prev ?? current });
  },

  /** An endless chain: the same items under a new URL each time. */
  "next-endless": (envelope, { url }) => {
    const next = new URL(url);
    next.searchParams.set("again", String(Number(next.searchParams.get("again") ?? 0) + 1));
    return withMeta(envelope, { next: next.href });
  },

  /** The last page links to a page that does not exist. */
  "next-beyond": (envelope, { url }) => {
    const { next } = objectIn(envelope, "meta");
    return withMeta(envelope, { next: next ?? `${url.split("?")[0]}?page=999999&cursor=beyond` });
  },

  "next-missing": (envelope) => {
    delete objectIn(envelope, "meta").next;
    return envelope;
  },

  "wrong-total": (envelope, { parameters }) =>
    withMeta(envelope, { collection_total: parameters.value ?? 999_999 }),

  /** The page as if `count` items had been inserted before it since the previous page: that many items repeat. */
  drift: (envelope, { parameters, envelopeAt }) => {
    const { by = 1 } = parameters;
    const { prev, next } = objectIn(envelope, "meta");
    const own = Array.isArray(envelope.collection) ? envelope.collection : [];
    const before = itemsAt(prev, envelopeAt);
    const after = itemsAt(next, envelopeAt);
    const start = Math.max(0, before.length - by);
    envelope.collection = [...before, ...own, ...after].slice(start, start + own.length);
    return envelope;
  },

  "null-collection": (envelope) => ({ ...envelope, collection: null }),

  "empty-collection": (envelope) =>
    withMeta({ ...envelope, collection: [] }, { next: null, collection_total: 0, page_total: 0 }),

  "many-items": (envelope, { parameters }) => {
    const own = Array.isArray(envelope.collection) ? envelope.collection : [];
    const count = own.length === 0 ? 0 : (parameters.count ?? 100_000);
    return { ...envelope, collection: Array.from({ length: count }, (_, index) => own[index % own.length]) };
  },
} satisfies Record<string, EnvelopeFault>;

function withMeta<Envelope extends { [name: string]: unknown }>(envelope: Envelope, meta: object): Envelope {
  return { ...envelope, meta: { ...objectIn(envelope, "meta"), ...meta } };
}

function itemsAt(url: unknown, envelopeAt: (url: string) => SentEnvelope | null): readonly unknown[] {
  return (typeof url === "string" ? envelopeAt(url)?.collection : null) ?? [];
}
