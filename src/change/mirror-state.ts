/** A mirror's state when a run had closed. */
import { toMirrorError } from "../mirror/file/errors.ts";
import { type MirrorReader, openMirrorReader } from "../mirror/mirror-reader.ts";
import { showAsOf } from "../mirror/past/snapshot.ts";
import { fromStored } from "../mirror/rows/cell.ts";
import { publicTables } from "../mirror/tables.ts";
import type { Brand, MirrorPlace, State } from "./state.ts";

/** @throws MirrorError */
export function openMirrorState(place: MirrorPlace): State {
  return withReader(place.mirror, (mirror) => {
    const { db } = mirror;
    // One instant of the file for all that is read, while a sync may go on writing.
    db.exec("begin");
    showAsOf(db, place.run);
    return {
      place,
      baseUrl: mirror.identity.baseUrl,
      isTyped: true,
      tables: publicTables(mirror),
      *brands() {
        const rows = db.prepare("select href, slug, name from main.brand").raw().safeIntegers().iterate();
        for (const row of rows as Iterable<unknown[]>) {
          const [href = null, slug = null, name = null] = row.map(fromStored);
          yield { href, slug, name } satisfies Brand;
        }
      },
      close: () => mirror.close(),
    };
  });
}

/** Leaves the mirror open, unless `use` fails. */
export function withReader<Result>(file: string, use: (mirror: MirrorReader) => Result): Result {
  const mirror = openMirrorReader(file);
  try {
    return use(mirror);
  } catch (error) {
    mirror.close();
    throw toMirrorError(error, file);
  }
}
