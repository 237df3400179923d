/** How much of what is known is held: of the present, or of the past that a reader shows. */
import type { MirrorReader } from "../mirror/mirror-reader.ts";

export interface Coverage {
  /** Resources that are there as far as is known. */
  readonly known: number;
  readonly held: number;
}

export function readCoverage({ db }: MirrorReader): Coverage {
  const counts = db
    .prepare<[], Coverage>("select total(held + due + failed) as known, total(held) as held from coverage")
    .get();
  return counts ?? { known: 0, held: 0 };
}
