/** Prints what a sync would ask for: what `plan` does, and `sync --dry-run`. */
import { describePlan } from "./describe-plan.ts";
import type { Io } from "./io.ts";
import { readPlan, type WantedPlan } from "./read-plan.ts";
import type { Settings } from "./settings.ts";

/** @throws as readPlan does */
export function printPlan(wanted: WantedPlan, settings: Settings, io: Io): void {
  const plan = readPlan(wanted, settings, io);
  io.out(settings.json ? `${JSON.stringify(plan)}\n` : describePlan(plan, wanted.order, Date.now()));
}
