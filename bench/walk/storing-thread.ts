/** The thread that stores the bodies of the storing loop: verbatim, with their fields and links, as durably as a mirror. */
import { hash } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import Database from "better-sqlite3";

export interface FetchedBody {
  readonly url: string;
  readonly body: Uint8Array<ArrayBuffer>;
}

const db = new Database(workerData as string);
for (const pragma of ["journal_mode = WAL", "synchronous = FULL", "cache_size = -12288"]) db.pragma(pragma);
db.exec(`
  create table resource (id integer primary key, url text not null unique, state text not null);
  create table content (id integer primary key, sha256 blob not null, body blob not null);
  create table fields (id integer primary key, name any, size any, band any, cup any, bra_count any, main_picture any, last_modified_at any);
  create table link (from_id integer, name text, to_url text, primary key (from_id, name)) without rowid;
`);
const insertResource = db.prepare("insert into resource (url, state) values (?, 'due')");
const setHeld = db.prepare("update resource set state = 'held' where id = ?");
const insertContent = db.prepare("insert into content (id, sha256, body) values (?, ?, ?)");
const insertFields = db.prepare("insert into fields values (?, ?, ?, ?, ?, ?, ?, ?)");
const insertLink = db.prepare("insert into link (from_id, name, to_url) values (?, ?, ?)");
const columns = ["name", "size", "band", "cup", "bra_count", "main_picture", "last_modified_at"];

interface Envelope {
  readonly body?: Readonly<Record<string, unknown>>;
  readonly links?: Readonly<Record<string, string | null>>;
}

const storeAll = db.transaction((bodies: readonly FetchedBody[]) => {
  for (const { url, body } of bodies) {
    const { body: fields = {}, links = {} } = JSON.parse(
      Buffer.from(body.buffer).toString("utf8"),
    ) as Envelope;
    const id = insertResource.run(url).lastInsertRowid;
    insertContent.run(id, hash("sha256", body, "buffer"), body);
    insertFields.run(id, ...columns.map((column) => toCell(fields[column])));
    for (const [name, target] of Object.entries(links)) insertLink.run(id, name, target);
    setHeld.run(id);
  }
});

function toCell(value: unknown): unknown {
  if (typeof value === "string" || typeof value === "number") return value;
  return value === undefined || value === null ? null : JSON.stringify(value);
}

parentPort?.on("message", (bodies: readonly FetchedBody[]) => {
  storeAll.immediate(bodies);
  parentPort?.postMessage(bodies.length);
});
