/** Whether what can be searched is what the rows and lists say, and the index finds every word of it. */
import type { Connection } from "../file/connection.ts";
import {
  eachIdRange,
  type IdRange,
  readSearchDocuments,
  type SearchDocument,
} from "../search/search-documents.ts";
import type { ReportProblem } from "./check-problem.ts";

export function checkSearch(db: Connection, report: ReportProblem): void {
  const urlOf = db.prepare<[number], string>("select url from _resource where id = ?").pluck();
  const complain = (resourceId: number, what: string) =>
    report({ code: "search", where: urlOf.get(resourceId) ?? "_search", what });

  const selectStored = db.prepare<[IdRange], SearchDocument>(
    `select resource_id as resourceId, kind, text, from_run as fromRun, to_run as toRun from _search
     where resource_id between :first and :last order by resource_id, from_run`,
  );
  for (const range of eachIdRange(db)) {
    const expected = textsByResource(readSearchDocuments(db, range));
    const stored = textsByResource(selectStored.all(range));
    for (const resourceId of new Set([...expected.keys(), ...stored.keys()])) {
      if (expected.get(resourceId) !== stored.get(resourceId))
        complain(resourceId, "its searched words are not what its rows and lists give");
    }
  }
  for (const resourceId of readBadlyIndexed(db))
    complain(resourceId, "the index does not have its words as they are");
}

/** All that is said of each resource, in one text. */
function textsByResource(documents: readonly SearchDocument[]): ReadonlyMap<number, string> {
  const texts = new Map<number, string>();
  for (const { resourceId, kind, text, fromRun, toRun } of documents)
    texts.set(resourceId, (texts.get(resourceId) ?? "") + JSON.stringify([kind, text, fromRun, toRun]));
  return texts;
}

/** Compares the index, word for word, with a new one of the same texts. Both are temporary, so nothing is written. */
function readBadlyIndexed(db: Connection): number[] {
  db.exec(
    `create virtual table temp.expected_index using fts5 (kind, text, content = '', tokenize = 'ascii');
     insert into temp.expected_index (rowid, kind, text) select id, kind, text from _search;
     create virtual table temp.expected_word using fts5vocab (temp, expected_index, instance);
     create virtual table temp.stored_word using fts5vocab (main, _search_index, instance)`,
  );
  const difference = (one: string, other: string) =>
    `select * from (select doc, term, col, "offset" from ${one} except select doc, term, col, "offset" from ${other})`;
  try {
    return db
      .prepare<[], number>(
        `select distinct coalesce(d.resource_id, 0) from (
           ${difference("temp.expected_word", "temp.stored_word")} union all ${difference("temp.stored_word", "temp.expected_word")}
         ) w left join _search d on d.id = w.doc`,
      )
      .pluck()
      .all();
  } finally {
    db.exec("drop table temp.stored_word; drop table temp.expected_word; drop table temp.expected_index");
  }
}
