/** How far the list of a brand's models, or of a model's sizes, was read. */
import { sql } from "kysely";
import { prepare } from "../../mirror/file/statements.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import { q } from "../views.ts";

/** `partial`: some of its pages are not fetched, or they contradict each other. */
export type ListState = "complete" | "partial" | "unread";

/** @param href of the resource that the list belongs to */
export function readListState({ db }: Pick<MirrorReader, "db">, href: string, kind: ListKind): ListState {
  // The pages of a list belong to the same resource.
  const pages = prepare(db, (p: { href: string; kind: string }) =>
    q
      .selectFrom("_resource as owner")
      .innerJoin("_resource as page", "page.owner_id", "owner.id")
      .leftJoin("_pass as pass", (join) =>
        join.onRef("pass.collection_id", "=", "page.id").on("pass.status", "=", "partial"),
      )
      .select(["page.state", sql<0 | 1>`pass.status is not null`.as("isInconsistent")])
      .where("owner.url", "=", p.href)
      .where("page.kind", "=", p.kind)
      .where("page.state", "not in", ["superseded", "gone"]),
  ).all({ href, kind });
  if (!pages.some(({ state }) => state === "held")) return "unread";
  return pages.every(({ state, isInconsistent }) => state === "held" && isInconsistent === 0)
    ? "complete"
    : "partial";
}

type ListKind = "models" | "sizes";

/** A sentence; empty if the list is complete. @param known number of its items that are known */
export function describeListState(state: ListState, kind: ListKind, known: number): string {
  if (state === "complete") return "";
  return known === 0
    ? `The list of ${kind} is not fetched yet.`
    : `The list of ${kind} is not fetched to its end: there may be more.`;
}
