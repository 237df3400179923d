/**
 * Maintains the search index: one row of `_search` for each text that a resource had after a closed run, and the full-text
 * index over all of them. Only resources with changed words are written.
 */
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q, textsIn } from "../queries/query-builder.ts";
import {
  eachIdRange,
  prepareSearchText,
  readSearchDocuments,
  type SearchDocument,
  searchedKinds,
} from "./search-documents.ts";

/** Records which resources may have changed names. */
export interface SearchNotes {
  note(resource: { readonly id: number; readonly kind: string }): void;
  /** Records the items of a page. Call it before the page's items are replaced. */
  noteItems(pageId: number): void;
  /** Records a resource whose kind became known, so that its earlier names are indexed too. */
  noteRetyped(id: number): void;
}

export interface SearchIndex extends SearchNotes {
  /**
   * Updates the index for the recorded resources. Call it at the end of a transaction. Records of a transaction that was
   * rolled back are harmless: a resource without changes is not written.
   */
  update(runId: number): void;
}

/** For a caller that rebuilds the whole index afterwards. */
export const noSearchNotes: SearchNotes = { note() {}, noteItems() {}, noteRetyped() {} };

export function prepareSearchIndex(db: Connection): SearchIndex {
  const textOf = prepareSearchText(db);
  const beginWrites = prepareWrites(db);
  const { selectItems, selectKind, selectCurrent, selectAll, reopen, close } = prepareStatements(db);
  const noted = new Set<number>();
  const retyped = new Set<number>();

  const updateResource = (resourceId: number, run: number, writes: IndexWrites): void => {
    const kind = selectKind.get({ id: resourceId });
    if (kind === undefined) return;
    const text = textOf(resourceId, kind);
    const current = selectCurrent.get({ resourceId });
    if (text === (current?.text ?? "")) return;
    if (current !== undefined) {
      if (current.fromRun < run) close.run({ id: current.id, run });
      else writes.remove({ id: current.id, kind, text: current.text });
    }
    if (text !== "" && reopen.run({ resourceId, run, text }).changes === 0)
      writes.add({ resourceId, kind, text, fromRun: run, toRun: null });
  };

  return {
    note({ id, kind }) {
      if (searchedKinds.includes(kind)) noted.add(id);
    },
    noteItems(pageId) {
      for (const id of selectItems.all({ pageId, kinds: JSON.stringify(searchedKinds) }))
        if (id !== null) noted.add(id);
    },
    noteRetyped: (id) => void retyped.add(id),
    update(runId) {
      const writes = beginWrites();
      for (const id of retyped) {
        for (const entry of selectAll.all({ resourceId: id })) writes.remove(entry);
        for (const document of readSearchDocuments(db, { first: id, last: id })) writes.add(document);
      }
      for (const id of noted) if (!retyped.has(id)) updateResource(id, runId, writes);
      writes.flush();
      noted.clear();
      retyped.clear();
    },
  };
}

function prepareStatements(db: Connection) {
  return {
    selectItems: prepareColumn(db, (p: { pageId: number; kinds: string }) =>
      q
        .selectFrom("_member as m")
        .innerJoin("_resource as r", "r.id", "m.item_id")
        .select("m.item_id")
        .where("m.page_id", "=", p.pageId)
        .where("r.kind", "in", textsIn(p.kinds)),
    ),
    selectKind: prepareColumn(db, (p: { id: number }) =>
      q.selectFrom("_resource").select("kind").where("id", "=", p.id),
    ),
    selectCurrent: prepare(db, (p: { resourceId: number }) =>
      q
        .selectFrom("_search")
        .select(["id", "text", "from_run as fromRun"])
        .where("resource_id", "=", p.resourceId)
        .where("to_run", "is", null),
    ),
    selectAll: prepare(db, (p: { resourceId: number }) =>
      q.selectFrom("_search").select(["id", "kind", "text"]).where("resource_id", "=", p.resourceId),
    ),
    /** For a text that ended in the same run. */
    reopen: prepare(db, (p: { resourceId: number; run: number; text: string }) =>
      q
        .updateTable("_search")
        .set({ to_run: null })
        .where("resource_id", "=", p.resourceId)
        .where("to_run", "=", p.run)
        .where("text", "=", p.text),
    ),
    close: prepare(db, (p: { id: number; run: number }) =>
      q.updateTable("_search").set({ to_run: p.run }).where("id", "=", p.id),
    ),
  };
}

/** Rebuilds all documents and the index from the derived rows. Call it inside a transaction. */
export function rebuildSearchIndex(db: Connection): void {
  db.exec("delete from _search");
  const insert = prepareInsert(db);
  for (const range of eachIdRange(db))
    for (const document of readSearchDocuments(db, range)) insert.run(document);
  db.exec("insert into _search_index (_search_index) values ('rebuild')");
}

/**
 * Makes the index's configuration as FTS5 does. Without it, no statement on the index can be prepared, not even one that
 * rebuilds or drops it.
 */
export function repairSearchConfiguration(db: Connection): void {
  const stored = db.prepare<[], [string, number]>("select k, v from _search_index_config").raw().all();
  if (JSON.stringify(stored) === JSON.stringify([["version", indexVersion]])) return;
  // SQLite lets only FTS5 write to this table otherwise.
  db.unsafeMode();
  try {
    db.exec(
      `delete from _search_index_config; insert into _search_index_config values ('version', ${indexVersion})`,
    );
  } finally {
    db.unsafeMode(false);
  }
}

/** FTS5's format without the option `secure-delete`. */
const indexVersion = 4;

function prepareInsert(db: Connection) {
  return prepare(db, (p: SearchDocument) =>
    q.insertInto("_search").values({
      resource_id: p.resourceId,
      kind: p.kind,
      text: p.text,
      from_run: p.fromRun,
      to_run: p.toRun,
    }),
  );
}

interface IndexEntry {
  readonly id: number;
  readonly kind: string;
  readonly text: string;
}

interface IndexWrites {
  remove(entry: IndexEntry): void;
  add(document: SearchDocument): void;
  flush(): void;
}

/** Rows are written at once, the index at the end in the order of ids: FTS5 flushes whenever an id is below the last one. */
function prepareWrites(db: Connection): () => IndexWrites {
  const insert = prepareInsert(db);
  const remove = prepare(db, (p: { id: number }) => q.deleteFrom("_search").where("id", "=", p.id));
  // Raw SQL: the virtual table is not typed, and FTS5 takes its command in a column.
  const addToIndex = db.prepare<IndexEntry>(
    "insert into _search_index (rowid, kind, text) values (:id, :kind, :text)",
  );
  const removeFromIndex = db.prepare<IndexEntry>(
    "insert into _search_index (_search_index, rowid, kind, text) values ('delete', :id, :kind, :text)",
  );
  return () => {
    const removed: IndexEntry[] = [];
    const added: IndexEntry[] = [];
    return {
      remove(entry) {
        remove.run({ id: entry.id });
        removed.push(entry);
      },
      add(document) {
        const id = Number(insert.run(document).lastInsertRowid);
        added.push({ id, kind: document.kind, text: document.text });
      },
      flush() {
        for (const entry of removed.sort((a, b) => a.id - b.id)) removeFromIndex.run(entry);
        for (const entry of added) addToIndex.run(entry);
      },
    };
  };
}
