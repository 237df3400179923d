/** `armoire plan`: what a sync would ask for next, what that costs, and how long it takes; nothing is sent. */
import type { Command } from "commander";
import { planLinkedCatalogue } from "../../../sync/sync-account.ts";
import { type AccountFlags, addCatalogueFlag, requireAccountFor } from "../../flags/account-flags.ts";
import {
  addScopeFlags,
  addSpendingFlags,
  type SpendingFlags,
  scopeOptionsFor,
  spendingOptionsOf,
} from "../../flags/scope-flags.ts";
import { formatLinkedPlan, formatPlan } from "../../format/plan.ts";
import { readPlan, type WantedPlan } from "../../read-plan.ts";
import { catalogueFileOf, mirrorFileToPlan } from "../../settings/mirror-file.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import type { Io } from "../../terminal/io.ts";

interface PlanFlags extends SpendingFlags, Pick<AccountFlags, "withCatalogue"> {}

export function configure(command: Command, io: Io): void {
  addCatalogueFlag(addSpendingFlags(addScopeFlags(command)))
    .addHelpText(
      "after",
      `
Examples:
  armoire plan
  armoire plan --depth models --order breadth
  armoire plan --reserve 50
  armoire plan --mode verify --json
  armoire plan --account ada --with-catalogue`,
    )
    .action((flags: PlanFlags) => {
      const settings = readSettings(command, io);
      requireAccountFor(flags, settings);
      const wanted = {
        ...scopeOptionsFor(settings.account, command),
        ...mirrorFileToPlan(settings),
        ...spendingOptionsOf(flags),
      };
      printPlan(wanted, flags, settings, io);
    });
}

/** Prints what a sync would ask for: what `plan` does, and `sync --dry-run`. */

/** @throws as readPlan does */
export function printPlan(
  wanted: WantedPlan,
  { withCatalogue }: AccountFlags,
  settings: Settings,
  io: Io,
): void {
  const plan = readPlan(wanted, settings, io);
  const beside = withCatalogue && {
    catalogue: planLinkedCatalogue(wanted.file, catalogueFileOf(settings)),
  };
  if (settings.json) io.out(`${JSON.stringify({ ...plan, ...beside })}\n`);
  else {
    const text = formatPlan(plan, wanted.order, Date.now());
    io.out(beside ? text + formatLinkedPlan(beside.catalogue) : text);
  }
}
