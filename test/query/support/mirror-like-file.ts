import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import Database from "better-sqlite3";

/** Creates a file with the features of a mirror: WAL, a table, an index, a full-text table, text stored as UTF-16. */
export function makeMirrorLikeFile(folder: string): string {
  const file = join(folder, "mirror.sqlite");
  const database = new Database(file);
  database.pragma("journal_mode = WAL");
  database.exec(`
    CREATE TABLE brand (href TEXT PRIMARY KEY, name ANY, bra_count ANY) STRICT, WITHOUT ROWID;
    CREATE INDEX brand_name ON brand (name);
    CREATE TABLE content (id INTEGER PRIMARY KEY, sha256 BLOB);
    CREATE VIRTUAL TABLE search USING fts5(name);
    CREATE VIEW writing_view AS SELECT 1 AS x;
    CREATE TRIGGER on_view INSTEAD OF INSERT ON writing_view BEGIN DELETE FROM brand; END;
    CREATE VIEW known AS SELECT href, name, bra_count * 2 AS twice FROM brand;
  `);
  const insert = database.prepare("INSERT INTO brand VALUES (?, ?, ?)");
  insert.run("a", "Anita", 3);
  insert.run("b", Buffer.from("lone \ud800", "utf16le"), 9007199254740993n);
  insert.run("c", "nul \0 and 😀", null);
  database.prepare("INSERT INTO content VALUES (1, ?)").run(Buffer.from([0, 255, 16, 1]));
  database.exec("INSERT INTO search SELECT name FROM brand WHERE typeof(name) = 'text'");
  database.close();
  return file;
}

/** The name and SHA-256 of every file in a folder. */
export async function hashesOf(folder: string): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for (const name of (await readdir(folder)).sort()) {
    hashes[name] = createHash("sha256")
      .update(await readFile(join(folder, name)))
      .digest("hex");
  }
  return hashes;
}
