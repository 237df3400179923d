/** Formats the run log for people. */
import type { RunRecord } from "../../../mirror/runs/run-log.ts";
import { formatSecond } from "../../../presentation/times.ts";
import type { Screen } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/safe-text.ts";
import { formatTable } from "../../terminal/table/text-table.ts";

const columns = ["run", "started", "result", "counted", "new", "changed", "gone", "failed"];

/** @param screen the terminal; null without one */
export function formatRuns(runs: readonly RunRecord[], screen: Pick<Screen, "columns"> | null): string {
  return formatTable(columns, runs.map(toRow), screen);
}

export function idleNotice(runs: number): string {
  const which = runs === 1 ? "1 run that sent no request is" : `${runs} runs that sent no request are`;
  return `${which} not shown; \`armoire runs list --all\` lists all.\n`;
}

/** One run, with its error. */
export function formatRun(run: RunRecord, screen: Pick<Screen, "columns"> | null): string {
  const { error } = run;
  return `${formatRuns([run], screen)}${error === null ? "" : `\nThe run ended early: ${escapeControls(error)}\n`}`;
}

const openStates = { running: "running", "not-finished": "not finished" } as const;

function toRow({ id, startedAt, state, stopped, counts, prunedAt }: RunRecord): unknown[] {
  return [
    id,
    formatSecond(startedAt),
    `${state === "ended" ? (stopped ?? "done") : openStates[state]}${prunedAt === null ? "" : ", pruned"}`,
    counts?.requests?.counted ?? null,
    counts?.resources.new ?? null,
    counts?.resources.changed ?? null,
    counts?.resources.gone ?? null,
    counts?.resources.failed ?? null,
  ];
}
