/** Prints what a sync would ask for: what `plan` does, and `sync --dry-run`. */
import { planLinkedCatalogue } from "../sync/plan-linked-catalogue.ts";
import { describeLinkedPlan, describePlan } from "./describe/describe-plan.ts";
import type { WholeFlags } from "./flags/whole-flags.ts";
import { readPlan, type WantedPlan } from "./read-plan.ts";
import { catalogueFileOf } from "./settings/mirror-file.ts";
import type { Settings } from "./settings/settings.ts";
import type { Io } from "./terminal/io.ts";

/** @throws as readPlan does */
export function printPlan(
  wanted: WantedPlan,
  { withCatalogue }: WholeFlags,
  settings: Settings,
  io: Io,
): void {
  const plan = readPlan(wanted, settings, io);
  const beside = withCatalogue && {
    catalogue: planLinkedCatalogue(wanted.file, catalogueFileOf(settings)),
  };
  if (settings.json) io.out(`${JSON.stringify({ ...plan, ...beside })}\n`);
  else {
    const text = describePlan(plan, wanted.order, Date.now());
    io.out(beside ? text + describeLinkedPlan(beside.catalogue) : text);
  }
}
