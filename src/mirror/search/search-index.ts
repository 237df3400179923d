/**
 * Keeps what can be searched as it is, and as it was: one row of `_search` for each text that a resource had and a closed
 * run has seen, and the full-text index over all of them. Only what has other words than before is written.
 */
import type { Connection } from "../file/connection.ts";
import {
  eachIdRange,
  prepareSearchText,
  readSearchDocuments,
  type SearchDocument,
  searchedKinds,
} from "./search-documents.ts";

/** Takes notes of what may have other names than before. */
export interface SearchNotes {
  note(resource: { readonly id: number; readonly kind: string }): void;
  /** What a page lists, before it lists something else. */
  noteItems(pageId: number): void;
  /** What it was called while nobody knew what it is counts from now on. */
  noteRetyped(id: number): void;
}

export interface SearchIndex extends SearchNotes {
  /**
   * Brings up to date what was noted. Called at the end of a transaction; notes of one that came to nothing do no harm,
   * since every note is only looked into.
   */
  settle(runId: number): void;
}

/** For who makes the whole index anew afterwards. */
export const noSearchNotes: SearchNotes = { note() {}, noteItems() {}, noteRetyped() {} };

interface CurrentDocument {
  readonly id: number;
  readonly text: string;
  readonly fromRun: number;
}

export function prepareSearchIndex(db: Connection): SearchIndex {
  const textOf = prepareSearchText(db);
  const beginIndexWrites = prepareIndexWrites(db);
  const selectItems = db
    .prepare<[number, string], number>(
      `select m.item_id from _member m join _resource r on r.id = m.item_id
       where m.page_id = ? and r.kind in (select value from json_each(?))`,
    )
    .pluck();
  const selectKind = db.prepare<[number], string>("select kind from _resource where id = ?").pluck();
  const selectCurrent = db.prepare<[number], CurrentDocument>(
    "select id, text, from_run as fromRun from _search where resource_id = ? and to_run is null",
  );
  const selectAll = db
    .prepare<[number], [number, string, string]>("select id, kind, text from _search where resource_id = ?")
    .raw();
  const reopen = db.prepare(
    "update _search set to_run = null where resource_id = ? and to_run = ? and text = ?",
  );
  const close = db.prepare("update _search set to_run = ? where id = ?");
  const noted = new Set<number>();
  const retyped = new Set<number>();

  const renew = (resourceId: number, runId: number, writes: IndexWrites): void => {
    const kind = selectKind.get(resourceId);
    if (kind === undefined) return;
    const text = textOf(resourceId, kind);
    const current = selectCurrent.get(resourceId);
    if (text === (current?.text ?? "")) return;
    if (current !== undefined) {
      if (current.fromRun < runId) close.run(runId, current.id);
      else writes.remove([current.id, kind, current.text]);
    }
    if (text !== "" && reopen.run(resourceId, runId, text).changes === 0)
      writes.add({ resourceId, kind, text, fromRun: runId, toRun: null });
  };

  return {
    note({ id, kind }) {
      if (searchedKinds.includes(kind)) noted.add(id);
    },
    noteItems(pageId) {
      for (const id of selectItems.all(pageId, JSON.stringify(searchedKinds))) noted.add(id);
    },
    noteRetyped: (id) => void retyped.add(id),
    settle(runId) {
      const writes = beginIndexWrites();
      for (const id of retyped) {
        for (const entry of selectAll.all(id)) writes.remove(entry);
        for (const document of readSearchDocuments(db, { first: id, last: id })) writes.add(document);
      }
      for (const id of noted) if (!retyped.has(id)) renew(id, runId, writes);
      writes.flush();
      noted.clear();
      retyped.clear();
    },
  };
}

/** Makes all of it anew from the tables of derived rows. Called inside a transaction. */
export function rebuildSearchIndex(db: Connection): void {
  db.exec("delete from _search");
  const insert = prepareInsert(db);
  for (const range of eachIdRange(db))
    for (const document of readSearchDocuments(db, range)) insert(document);
  db.exec("insert into _search_index (_search_index) values ('rebuild')");
}

function prepareInsert(db: Connection): (document: SearchDocument) => number {
  const insert = db.prepare<SearchDocument>(
    `insert into _search (resource_id, kind, text, from_run, to_run)
     values (:resourceId, :kind, :text, :fromRun, :toRun)`,
  );
  return (document) => Number(insert.run(document).lastInsertRowid);
}

type IndexEntry = readonly [id: number, kind: string, text: string];

interface IndexWrites {
  remove(entry: IndexEntry): void;
  add(document: SearchDocument): void;
  flush(): void;
}

/** Rows at once, the index at the end: it writes itself out whenever it is given an id below the last one. */
function prepareIndexWrites(db: Connection): () => IndexWrites {
  const insert = prepareInsert(db);
  const remove = db.prepare("delete from _search where id = ?");
  const addToIndex = db.prepare("insert into _search_index (rowid, kind, text) values (?, ?, ?)");
  const removeFromIndex = db.prepare(
    "insert into _search_index (_search_index, rowid, kind, text) values ('delete', ?, ?, ?)",
  );
  return () => {
    const removed: IndexEntry[] = [];
    const added: IndexEntry[] = [];
    return {
      remove(entry) {
        remove.run(entry[0]);
        removed.push(entry);
      },
      add(document) {
        added.push([insert(document), document.kind, document.text]);
      },
      flush() {
        for (const entry of removed.sort(([one], [other]) => one - other)) removeFromIndex.run(...entry);
        for (const entry of added) addToIndex.run(...entry);
      },
    };
  };
}
