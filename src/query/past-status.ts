/** What a mirror held when a run had ended: as much of its status as is remembered. */
import type { MirrorReader } from "../mirror/mirror-reader.ts";
import type { EndedRun } from "../mirror/points/resolve-point.ts";
import { listRuns, type RunRecord } from "../mirror/runs/runs.ts";
import { type KindStatus, type MirrorStatus, readNotedLinks, readRevisionCount } from "./status.ts";

/** Without what is of the present alone: when things were checked last, what failed and why, what was odd. */
export interface PastStatus
  extends Pick<MirrorStatus, "mirror" | "baseUrl" | "serviceName" | "revisions" | "noted"> {
  /** Null for the present. */
  readonly asOf: EndedRun | null;
  readonly kinds: readonly Pick<KindStatus, "kind" | "known" | "held" | "due" | "failed" | "gone">[];
  readonly lastRun: RunRecord | null;
}

/** @param mirror opened with a point */
export function readPastStatus(mirror: MirrorReader): PastStatus {
  const { db, file, identity, asOf } = mirror;
  return {
    mirror: file,
    baseUrl: identity.baseUrl,
    serviceName: identity.serviceName,
    asOf,
    kinds: db
      .prepare<[], PastStatus["kinds"][number]>(
        `select c.kind, c.known, c.held, c.due, c.failed, c.gone from coverage c
         order by (select min(id) from main._resource where kind = c.kind)`,
      )
      .all(),
    revisions: readRevisionCount(mirror),
    noted: readNotedLinks(mirror),
    lastRun: listRuns(mirror, 1)[0] ?? null,
  };
}
