/** How the last run of a schedule ended. One that ended badly may have left no run in the mirror. */
import { html } from "hono/html";
import { formatAge } from "../../../presentation/durations.ts";
import type { Html, ShownSchedule } from "../../page.ts";
import { timeOf } from "../values.ts";

const fine = new Set(["done", "running"]);

export const endedWell = ({ outcome }: ShownSchedule["runs"][number]): boolean => fine.has(outcome);

export const outcomeOf = (run: ShownSchedule["runs"][number]): Html | string =>
  endedWell(run) ? run.outcome : html`<strong class="mistake">${run.outcome}</strong>`;

export const late = (since: string): Html =>
  html`<strong class="mistake">late: the run of ${timeOf(since)} has not begun</strong>`;

/** @param now epoch milliseconds */
export const outcomeAndAge = (run: ShownSchedule["runs"][number], now: number): Html =>
  html`${outcomeOf(run)}, ${formatAge(run.startedAt, now)} ago`;
