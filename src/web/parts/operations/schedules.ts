/** Schedules that run over Redis, and what their last runs reported. */
import { html } from "hono/html";
import type { ScheduledRunOverview, ScheduleOverview } from "../../../../jobs/bullmq/operators/schedules.ts";
import { toIso } from "../../../platform/clock.ts";
import { formatAge, formatDuration } from "../../../presentation/durations.ts";
import { formatNumber } from "../../../presentation/numbers.ts";
import { formatNext } from "../../../presentation/times.ts";
import type { Html } from "../../page.ts";
import { table } from "../lists/table.ts";
import { empty } from "../states.ts";
import { none, timeOf } from "../values.ts";
import { failedRun } from "./summary.ts";

export function scheduleTables(schedules: readonly ScheduleOverview[], now: number): Html {
  if (schedules.length === 0) return empty("No schedule runs over this Redis.");
  const runs = schedules
    .flatMap(({ name, runs }) => runs.map((run) => ({ name, ...run })))
    .sort((a, b) => b.startedAt - a.startedAt)
    .slice(0, maxRuns);
  return html`${table({
    caption: "Schedules",
    columns: [
      { label: "Name" },
      { label: "Next" },
      { label: "Last run" },
      { label: "Cron", isMinor: true },
      { label: "Command", isMinor: true },
    ],
    rows: schedules.map(({ name, command, cron, tz, nextAt, runs: [last] }) => [
      name,
      formatNext(nextAt === null ? null : toIso(nextAt), now),
      last === undefined ? none() : html`${stateOf(last)}, ${formatAge(toIso(last.startedAt), now)} ago`,
      html`<span class="code">${cron}</span> <span class="muted">${tz}</span>`,
      html`<span class="code">${command}</span>`,
    ]),
  })}${
    runs.length === 0
      ? ""
      : table({
          caption: "Last scheduled runs",
          columns: [
            { label: "Run of" },
            { label: "Began" },
            { label: "Took", isNumber: true, isMinor: true },
            { label: "Result" },
            { label: "Report" },
          ],
          rows: runs.map(({ name, startedAt, seconds, state, ...report }) => [
            name,
            timeOf(toIso(startedAt)),
            seconds === null ? none() : formatDuration(seconds),
            stateOf({ state }),
            reportOf(report),
          ]),
        })
  }`;
}

const maxRuns = 20;

const stateOf = ({ state }: Pick<ScheduledRunOverview, "state">): Html | string =>
  state === "failed" ? failedRun() : state;

function reportOf({ counts, problem }: Pick<ScheduledRunOverview, "counts" | "problem">): Html | string {
  if (problem !== null) return html`<bdi>${problem}</bdi>`;
  if (counts === null) return none();
  const shown = Object.entries(counts).filter(([, count]) => count !== 0);
  if (shown.length === 0) return "nothing new";
  return shown.map(([name, count]) => `${formatNumber(count)} ${name}`).join(", ");
}
