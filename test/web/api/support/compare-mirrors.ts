/** Compares a mirror of the service with one that was synced from the API: rows and bodies, without origins and own times. */
import { views } from "../../../../schema/views.ts";
import { type MirrorReader, readMirror } from "../../../../src/mirror/reader.ts";
import { currentBodies } from "../../../support/current-bodies.ts";

/** Columns that the service did not send. */
const ownColumns = new Set([
  "first_seen_at",
  "checked_at",
  "confirmed",
  "gone_at",
  "oldest_check_at",
  "changed_at",
  "run",
  "revision",
]);
/** Views of our own bookkeeping, and of pictures. */
const ownViews = new Set(["coverage", "recently_changed", "schema_drift", "media"]);

/** The live content of a mirror, sorted: one text for each row and each body, with `{origin}` for its service. */
export function liveContent(mirror: MirrorReader): string[] {
  const { origin } = new URL(mirror.identity.baseUrl);
  const dead = new Set(
    mirror.db
      .prepare<[], string>("select url from _resource where state in ('gone', 'superseded')")
      .pluck()
      .all(),
  );
  const rows = Object.keys(views)
    .filter((view) => !ownViews.has(view))
    .flatMap((view) =>
      mirror.db
        .prepare<[], Record<string, unknown>>(`select * from ${view}`)
        .all()
        .filter((row) => !Object.values(row).some((cell) => dead.has(String(cell))))
        .map((row) => `${view} ${JSON.stringify(withoutOwn(row))}`),
    );
  const bodies = [...currentBodies(mirror)].map(([url, body]) => `body ${url} ${body}`);
  return [...rows, ...bodies].map((text) => text.replaceAll(origin, "{origin}")).sort();
}

function withoutOwn(row: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !ownColumns.has(name)));
}

/** The bodies of mirrors by URL, as an API of this origin sends them. */
export function servedBodies(files: readonly string[], origin: string): Readonly<Record<string, string>> {
  const bodies = files.flatMap((file) =>
    readMirror(file, (mirror) => {
      const from = new URL(mirror.identity.baseUrl).origin;
      return [...currentBodies(mirror)].map(([url, body]) =>
        [url, body].map((text) => text.replaceAll(from, origin)),
      );
    }),
  );
  return Object.fromEntries(bodies);
}
