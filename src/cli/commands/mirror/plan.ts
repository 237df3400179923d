/** `armoire plan`: the next sync's requests, their cost and a forecast, computed offline. */
import type { Command } from "commander";
import { planLinkedCatalogue } from "../../../mirror/account/catalogue-links.ts";
import { type AccountFlags, addCatalogueFlag, requireAccountFor } from "../../flags/account-flags.ts";
import {
  addScopeFlags,
  addSpendingFlags,
  type SpendingFlags,
  scopeOptionsFor,
  spendingOptionsOf,
} from "../../flags/scope-flags.ts";
import { formatLinkedPlan, formatPlan } from "../../format/mirror/plan.ts";
import { type PlanTarget, readPlan } from "../../read-plan.ts";
import { catalogueFileOf, mirrorFileToPlan } from "../../settings/mirror-file.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";

interface PlanFlags extends SpendingFlags, Pick<AccountFlags, "withCatalogue"> {}

export function configure(command: Command, io: Io): void {
  addCatalogueFlag(addSpendingFlags(addScopeFlags(command)));
  addHelp(command, {
    details: [
      "Prints the next requests with their reasons, the cost, what today's allowance covers, the days until the mirror is " +
        "complete, and the share of users' bras whose models are held by then. It sends nothing, and works before the first sync. " +
        "The output of `armoire sync --dry-run` is the same. With --follow, it leaves out resources behind links that no sync " +
        "has followed yet.",
    ],
    examples: [
      "armoire plan",
      "armoire plan --depth models --order breadth",
      "armoire plan --reserve 50",
      "armoire plan --mode verify --json",
      "armoire plan --account ada --with-catalogue",
    ],
    exitCodes: exitCodesOfReading,
  });
  command.action((flags: PlanFlags) => {
    const settings = readSettings(command, io);
    requireAccountFor(flags, settings);
    const target = {
      ...scopeOptionsFor(settings.account, command),
      ...mirrorFileToPlan(settings),
      ...spendingOptionsOf(flags),
    };
    printPlan(target, flags, settings, io);
  });
}

/** For `plan` and `sync --dry-run`. @throws as readPlan does */
export function printPlan(
  target: PlanTarget,
  { withCatalogue }: AccountFlags,
  settings: Settings,
  io: Io,
): void {
  const plan = readPlan(target, settings, io);
  const linked = withCatalogue && {
    catalogue: planLinkedCatalogue(target.file, catalogueFileOf(settings)),
  };
  if (settings.json) io.out(toJsonLine({ ...plan, ...linked }));
  else {
    const text = formatPlan(plan, target.order, Date.now(), io.screen);
    printText(io, linked ? text + formatLinkedPlan(linked.catalogue) : text);
  }
}
