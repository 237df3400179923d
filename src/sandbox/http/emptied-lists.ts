/** Lists that are full until all their pages were read, and empty from then on, as when a service loses an index. */
import type { SentEnvelope } from "../resources/view.ts";
import { createContent, type EtagStyle } from "./content.ts";
import type { Found } from "./site.ts";

export interface EmptiedLists {
  /**
   * @param reader the holder of the credential, for whom lists are private
   * @returns what is found in fact: an empty list, or nothing in the place of its further pages
   */
  readonly find: (target: string, reader: string, found: Found) => Found;
  /** Records that a page was sent. */
  readonly noteSent: (target: string, reader: string, found: Found) => void;
}

export interface EmptiedListsOptions {
  readonly pageSize: number;
  readonly etagStyle: EtagStyle;
  readonly notFound: Found;
}

export function createEmptiedLists({ pageSize, etagStyle, notFound }: EmptiedListsOptions): EmptiedLists {
  const pagesSent = new Map<string, Set<string>>();
  const emptied = new Set<string>();
  const listOf = (target: string, reader: string): string => `${reader} ${target.split("?", 1)[0]}`;

  return {
    find(target, reader, found) {
      if (!emptied.has(listOf(target, reader))) return found;
      const list = readList(found);
      if (!list) return found;
      if (target.includes("?")) return notFound;
      const { paginated } = list.meta;
      const meta = { ...list.meta, page_total: paginated ? 0 : null, next: null, collection_total: 0 };
      return { ...found, content: createContent({ ...list, meta, collection: [] }, etagStyle, true) };
    },
    noteSent(target, reader, found) {
      const list = readList(found);
      if (!list) return;
      const key = listOf(target, reader);
      const sent = pagesSent.get(key) ?? new Set();
      pagesSent.set(key, sent.add(target));
      const { paginated, collection_total: total } = list.meta;
      if (sent.size >= (paginated ? Math.ceil(Number(total) / pageSize) : 1)) emptied.add(key);
    },
  };
}

/** @returns null unless it is a page of a list that is not empty */
function readList({ kind, content: { plain } }: Found): SentEnvelope | null {
  if (kind === null || plain.status !== 200) return null;
  const envelope = JSON.parse(plain.body.toString()) as SentEnvelope;
  return envelope.collection !== undefined && envelope.collection.length > 0 ? envelope : null;
}
