import type { MirrorReader } from "../mirror/mirror-reader.ts";

/** Links that are not followed, since they lead to another origin or are no addresses. */
export function countSkippedLinks({ db }: MirrorReader): number {
  const count = db.prepare<[], number>("select count(*) from _issue where code = 'skipped-link'");
  return count.pluck().get() ?? 0;
}
