/** `/schedules`: recurring runs, when each is next, and how the last ones ended. */
import { html } from "hono/html";
import { formatDuration } from "../../../presentation/durations.ts";
import { formatCount } from "../../../presentation/numbers.ts";
import { formatNext } from "../../../presentation/times.ts";
import type { Html, Page, ShownSchedule, View } from "../../page.ts";
import { table } from "../../parts/lists/table.ts";
import { late, outcomeAndAge, outcomeOf } from "../../parts/runs/scheduled-outcome.ts";
import { sectionTabs } from "../../parts/section-tabs.ts";
import { empty, withCode } from "../../parts/states.ts";
import { none, timeOf } from "../../parts/values.ts";

export const schedulesPage: Page = {
  path: "/schedules",
  render(view) {
    const body = html`${sectionTabs(view, "runs")}
<h1>Schedules</h1>
${listOf(view)}`;
    return { title: "Schedules", body };
  },
  rows: (view) => ({
    name: "schedules",
    columns: ["name", "next_at", "last_started_at", "last_outcome", "cron", "tz", "command"],
    rows: () =>
      (view.schedules?.().schedules ?? []).map(({ name, nextAt, runs: [last], cron, tz, command }) => [
        ...[name, nextAt, last?.startedAt ?? null, last?.outcome ?? null],
        ...[cron, tz, command],
      ]),
  }),
};

function listOf(view: View): Html {
  const { schedules, ofAccounts } = view.schedules?.() ?? { schedules: [], ofAccounts: 0 };
  return html`${
    schedules.length === 0
      ? empty("There is no schedule.", withCode("`armoire schedule add NAME` adds one."))
      : html`${table({
          caption: "Schedules",
          isStacked: true,
          columns: [
            { label: "Name" },
            { label: "Next" },
            { label: "Last run" },
            { label: "Cron", isMinor: true },
            { label: "Command", isMinor: true },
          ],
          rows: schedules.map((schedule) => cellsOf(view, schedule)),
        })}
${schedules.filter(({ runs }) => runs.length > 0).map(runsOf)}`
  }${
    ofAccounts === 0
      ? ""
      : html`<p class="hint more">${withCode(`${formatCount(ofAccounts, "schedule")} of accounts: see \`armoire schedule list\`.`)}</p>`
  }`;
}

function cellsOf({ now }: View, { name, nextAt, step, lateSince, runs, cron, tz, command }: ShownSchedule) {
  const [last] = runs;
  return [
    name,
    html`${formatNext(nextAt, now, step)}${lateSince === null ? "" : html`<br>${late(lateSince)}`}`,
    last === undefined ? none() : outcomeAndAge(last, now),
    html`<span class="code">${cron}</span> <span class="muted">${tz}</span>`,
    html`<span class="code">${command}</span>`,
  ];
}

const runsOf = ({
  name,
  runs,
}: ShownSchedule): Html => html`<section aria-labelledby="runs-${name}"><h2 id="runs-${name}">Last runs of ${name}</h2>
${table({
  caption: `Last runs of ${name}`,
  columns: [
    { label: "Started" },
    { label: "Took", isNumber: true },
    { label: "Outcome" },
    { label: "Details", isMinor: true },
  ],
  rows: runs.map((run) => [
    timeOf(run.startedAt),
    run.seconds === null ? none() : formatDuration(run.seconds),
    outcomeOf(run),
    html`<bdi>${run.details}</bdi>`,
  ]),
})}</section>`;
