/** The workers that are there, and whether they can work. */
import { html } from "hono/html";
import type { Overview } from "../../../../jobs/bullmq/operators/overview.ts";
import type { CredentialState, WorkerState } from "../../../../jobs/bullmq/worker/worker-state.ts";
import { toIso } from "../../../platform/clock.ts";
import { formatAge } from "../../../presentation/durations.ts";
import { formatCount, formatNumber } from "../../../presentation/numbers.ts";
import { formatKind } from "../../../presentation/words.ts";
import type { Html } from "../../page.ts";
import { table } from "../lists/table.ts";
import { empty, withCode } from "../states.ts";
import { none } from "../values.ts";

const credentials: Readonly<Record<CredentialState, string>> = {
  accepted: "accepted",
  refused: "refused by the service",
  unused: "requests wait for another one",
  unknown: "not used yet",
  none: "none, by its settings",
};
const isProblem = (state: CredentialState) => state === "refused" || state === "unused";

export function workerTable({ workers, requests }: Overview, now: number): Html {
  const waiting = requests.filter(({ waiting, active }) => waiting + active > 0);
  return html`${
    workers.length === 0
      ? empty("No worker is there.", withCode("`armoire worker --redis URL` starts one."))
      : table({
          caption: "Workers",
          isStacked: true,
          columns: [
            { label: "Worker" },
            { label: "Version", isMinor: true },
            { label: "For" },
            { label: "Credential" },
            { label: "Sent", isNumber: true, isMinor: true },
            { label: "Last job" },
          ],
          rows: workers.flatMap((worker) => rowsOf(worker, now)),
        })
  }
${
  waiting.length === 0
    ? ""
    : html`<p class="hint">${waiting.map(
        ({ principal, service, waiting, active, isOfOtherVersion }) =>
          html`${formatCount(active, "request")} of ${principal} at ${service} under way, ${formatNumber(waiting)} waiting${isOfOtherVersion ? " for workers of another version" : ""}. `,
      )}</p>`
}`;
}

function rowsOf({ host, pid, version, startedAt, principals }: WorkerState, now: number) {
  return principals.map(({ name, service, acceptsJobs, credential, sent, lastJob }) => [
    html`<bdi>${host}</bdi> <span class="muted">process ${String(pid)}, since ${formatAge(toIso(startedAt), now)}</span>`,
    version,
    html`<bdi>${name}</bdi> <span class="muted">${service}</span>${acceptsJobs ? "" : html` <span class="tag gone">takes no jobs</span>`}`,
    isProblem(credential)
      ? html`<span class="tag gone">${credentials[credential]}</span>`
      : credentials[credential],
    formatNumber(sent),
    lastJob === null
      ? none()
      : html`${formatKind(lastJob.kind)}${lastJob.label === null ? "" : html` <bdi>${lastJob.label}</bdi>`} <span class="muted">${formatAge(toIso(lastJob.at), now)} ago</span>`,
  ]);
}
