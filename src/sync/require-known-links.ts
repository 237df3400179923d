/** Whether there are links of the names that are to be followed: a misspelt one would follow nothing, in silence. */
import { kinds } from "../../jobs/kinds.ts";
import type { MirrorReader } from "../mirror/mirror-reader.ts";
import { SyncError } from "./sync-error.ts";

/** @throws SyncError `unknown-link` for a name that neither the walk knows nor the mirror has seen */
export function requireKnownLinks({ db }: MirrorReader, names: readonly string[]): void {
  const known = new Set(Object.values(kinds).flatMap(({ optional }) => Object.keys(optional)));
  const isSeen = db.prepare<[string], number>("select 1 from _link where name = ? limit 1");
  const unknown = names.find((name) => !known.has(name) && isSeen.get(name) === undefined);
  if (unknown === undefined) return;
  throw new SyncError(
    "unknown-link",
    `No link called ${JSON.stringify(unknown)} is known`,
    `There are ${[...known].join(", ")}; \`armoire status\` lists what else the service has shown.`,
  );
}
