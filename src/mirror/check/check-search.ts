/** Checks that the search documents match the rows and listings, and that the index contains all their words. */
import type { Connection } from "../file/connection.ts";
import { prepare, prepareColumn } from "../file/statements.ts";
import { q } from "../queries/query-builder.ts";
import {
  eachIdRange,
  type IdRange,
  readSearchDocuments,
  type SearchDocument,
} from "../search/search-documents.ts";
import type { ReportProblem } from "./check-problem.ts";

export function checkSearch(db: Connection, report: ReportProblem): void {
  const urlOf = prepareColumn(db, (p: { id: number }) =>
    q.selectFrom("_resource").select("url").where("id", "=", p.id),
  );
  const reportResource = (id: number, message: string) =>
    report({ code: "search", where: urlOf.get({ id }) ?? "_search", message });

  const selectStored = prepare(db, (p: { first: number; last: number }) =>
    q
      .selectFrom("_search")
      .select(["resource_id as resourceId", "kind", "text", "from_run as fromRun", "to_run as toRun"])
      .where((eb) => eb.between("resource_id", p.first, p.last))
      .orderBy("resource_id")
      .orderBy("from_run"),
  );
  for (const range of eachIdRange(db)) {
    const expected = documentsByResource(readSearchDocuments(db, range));
    const stored = documentsByResource(selectStored.all(range satisfies IdRange));
    for (const id of new Set([...expected.keys(), ...stored.keys()])) {
      if (expected.get(id) !== stored.get(id))
        reportResource(id, "its search document does not match its rows and listings");
    }
  }
  for (const id of readWronglyIndexed(db))
    reportResource(id, "the search index does not match its search document");
}

/** The documents of each resource as one text, for comparison. */
function documentsByResource(documents: readonly SearchDocument[]): ReadonlyMap<number, string> {
  const texts = new Map<number, string>();
  for (const { resourceId, kind, text, fromRun, toRun } of documents)
    texts.set(resourceId, (texts.get(resourceId) ?? "") + JSON.stringify([kind, text, fromRun, toRun]));
  return texts;
}

/**
 * Compares the index, word by word, with a new one of the same texts. All tables that it creates are temporary. Raw SQL:
 * virtual tables.
 */
function readWronglyIndexed(db: Connection): number[] {
  db.exec(
    `create virtual table temp.expected_index using fts5 (kind, text, content = '', tokenize = 'ascii');
     insert into temp.expected_index (rowid, kind, text) select id, kind, text from _search;
     create virtual table temp.expected_word using fts5vocab (temp, expected_index, instance);
     create virtual table temp.stored_word using fts5vocab (main, _search_index, instance)`,
  );
  const difference = (a: string, b: string) =>
    `select * from (select doc, term, col, "offset" from ${a} except select doc, term, col, "offset" from ${b})`;
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
