/** `armoire plan`: what a sync would ask for next, what that costs, and how long it takes; nothing is sent. */
import type { Command } from "commander";
import type { Io } from "../io.ts";
import { mirrorFileToPlan } from "../mirror-file.ts";
import { printPlan } from "../print-plan.ts";
import { readSettings } from "../settings.ts";
import {
  addSpendingFlags,
  addWalkFlags,
  type SpendingFlags,
  spendingOptionsOf,
  walkOptionsFor,
} from "../walk-flags.ts";

export function configure(command: Command, io: Io): void {
  addSpendingFlags(addWalkFlags(command))
    .addHelpText(
      "after",
      `
Examples:
  armoire plan
  armoire plan --depth models --order breadth
  armoire plan --reserve 50
  armoire plan --mode verify --json
  armoire plan --account ada`,
    )
    .action((flags: SpendingFlags) => {
      const settings = readSettings(command, io);
      const wanted = {
        ...walkOptionsFor(settings.account, command),
        ...mirrorFileToPlan(settings),
        ...spendingOptionsOf(flags),
      };
      printPlan(wanted, settings, io);
    });
}
