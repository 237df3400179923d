/** A mirror's state when a run had closed. */
import { idsBetween } from "../mirror/between-runs.ts";
import { fromStored } from "../mirror/cell.ts";
import { toMirrorError } from "../mirror/errors.ts";
import { type MirrorReader, openMirrorReader } from "../mirror/mirror.ts";
import { type ShownIds, showAsOf } from "../mirror/snapshot.ts";
import { publicTables } from "../mirror/tables.ts";
import type { Brand, MirrorPlace, State } from "./state.ts";

/**
 * @param shown as `showAsOf` takes it
 * @throws MirrorError
 */
export function openMirrorState(place: MirrorPlace, shown?: ShownIds): State {
  return withReader(place.mirror, (mirror) => {
    const { db } = mirror;
    // One instant of the file for all that is read, while a sync may go on writing.
    db.exec("begin");
    showAsOf(db, place.run, shown);
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

/**
 * The states of two runs of one mirror, which leave out what is the same in both.
 * @throws MirrorError
 */
export function openRunsOfMirror(a: MirrorPlace, b: MirrorPlace): readonly [State, State] {
  const shown = withReader(a.mirror, (mirror) => {
    const between = idsBetween(mirror.db, a.run, b.run);
    mirror.close();
    return between;
  });
  const one = openMirrorState(a, shown);
  try {
    return [one, openMirrorState(b, shown)];
  } catch (error) {
    one.close();
    throw error;
  }
}

/** Leaves the mirror open, unless `use` fails. */
function withReader<Result>(file: string, use: (mirror: MirrorReader) => Result): Result {
  const mirror = openMirrorReader(file);
  try {
    return use(mirror);
  } catch (error) {
    mirror.close();
    throw toMirrorError(error, file);
  }
}
