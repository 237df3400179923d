/** `armoire plan`: what a sync would ask for next, what that costs, and how long it takes; nothing is sent. */
import type { Command } from "commander";
import type { Io } from "../io.ts";
import { mirrorFileToPlan } from "../mirror-file.ts";
import { printPlan } from "../print-plan.ts";
import { readSettings } from "../settings.ts";
import { addWalkFlags, type WalkFlags, walkOptionsOf } from "../walk-flags.ts";

export function configure(command: Command, io: Io): void {
  addWalkFlags(command)
    .addHelpText(
      "after",
      `
Examples:
  armoire plan
  armoire plan --depth models --order breadth
  armoire plan --mode verify --json`,
    )
    .action((flags: WalkFlags) => {
      const settings = readSettings(command, io);
      printPlan({ ...mirrorFileToPlan(settings), ...walkOptionsOf(flags) }, settings, io);
    });
}
