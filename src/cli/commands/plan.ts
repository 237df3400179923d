/** `armoire plan`: what a sync would ask for next, what that costs, and how long it takes; nothing is sent. */
import type { Command } from "commander";
import {
  addSpendingFlags,
  addWalkFlags,
  type SpendingFlags,
  spendingOptionsOf,
  walkOptionsFor,
} from "../flags/walk-flags.ts";
import { addCatalogueFlag, requireAccountFor, type WholeFlags } from "../flags/whole-flags.ts";
import { printPlan } from "../print-plan.ts";
import { mirrorFileToPlan } from "../settings/mirror-file.ts";
import { readSettings } from "../settings/settings.ts";
import type { Io } from "../terminal/io.ts";

interface PlanFlags extends SpendingFlags, Pick<WholeFlags, "withCatalogue"> {}

export function configure(command: Command, io: Io): void {
  addCatalogueFlag(addSpendingFlags(addWalkFlags(command)))
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
        ...walkOptionsFor(settings.account, command),
        ...mirrorFileToPlan(settings),
        ...spendingOptionsOf(flags),
      };
      printPlan(wanted, flags, settings, io);
    });
}
