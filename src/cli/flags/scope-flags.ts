/** The options that say what a sync goes for and in which order: the same for `sync` and `plan`. */
import { type Command, Option } from "commander";
import { type Depth, depths } from "../../../schema/kind.ts";
import type { Account } from "../../accounts/account.ts";
import { defaultMaxFreeChecks, type ScopeOptions } from "../../sync/options.ts";
import { type Mode, modes, type Order, orders } from "../../sync/plan/request.ts";
import { CliError } from "../terminal/exit-codes.ts";
import { collect, durationMillis, wholeNumber } from "./option-values.ts";

export interface ScopeFlags {
  readonly depth: Depth;
  readonly brand: readonly string[];
  readonly follow: readonly string[];
  readonly mode: Mode;
  readonly order: Order;
  readonly maxFreeChecks: number;
  readonly skipFresherThan?: number;
  readonly maxStaleness?: number;
}

export function addScopeFlags(command: Command): Command {
  return command
    .addOption(new Option("--depth <depth>", "how far to go").choices(depths).default("sizes"))
    .option("--brand <name>", "only this brand, by its listed name or slug (repeatable)", collect, [])
    .option("--follow <link>", "also follow related, same_cut or adjacent_sizes (repeatable)", collect, [])
    .addOption(
      new Option("--mode <mode>", "check what is likely or owed, check all, or fetch all anew")
        .choices(modes)
        .default("incremental"),
    )
    .addOption(
      new Option("--order <order>", "what is worth most first, level by level, or brand by brand")
        .choices(orders)
        .default("value"),
    )
    .option(
      "--max-free-checks <n>",
      "incremental: at most N checks that cost no allowance",
      wholeNumber,
      defaultMaxFreeChecks,
    )
    .option(
      "--skip-fresher-than <duration>",
      "incremental: skip resources checked more recently, such as 12h",
      durationMillis,
    )
    .option(
      "--max-staleness <duration>",
      "check every resource at least this often; default: 30d",
      durationMillis,
    );
}

export interface SpendingFlags {
  readonly budget?: number;
  readonly reserve?: number;
}

export function addSpendingFlags(command: Command): Command {
  return command
    .option("--budget <n>", "spend at most N counted requests in this run", wholeNumber)
    .option(
      "--reserve <n>",
      "requests of the allowance that this run leaves unused; default: 0",
      wholeNumber,
    );
}

export function spendingOptionsOf({ budget, reserve }: SpendingFlags) {
  return { budget: budget ?? null, ...(reserve !== undefined && { reserve }) };
}

export type RequestedScope = ScopeOptions & Pick<ScopeFlags, "depth" | "order">;

const catalogueFlags = ["depth", "brand", "order", "maxFreeChecks", "maxStaleness"] as const;

/** What an account is walked by: it has no depths, brands or order, and all of it is checked. @throws CliError */
export function scopeOptionsFor(account: Account | null, command: Command): RequestedScope {
  const options = walkOptionsOf(command.opts<ScopeFlags>());
  if (account === null) return options;
  const misplaced = command.options.find(
    (option) =>
      catalogueFlags.some((name) => name === option.attributeName()) &&
      command.getOptionValueSource(option.attributeName()) === "cli",
  );
  if (misplaced === undefined) return { ...options, area: "account" };
  throw new CliError(
    "usage",
    `${misplaced.long} is for the catalogue.`,
    "An account is mirrored whole, and checked whole in every run.",
  );
}

function walkOptionsOf(flags: ScopeFlags): RequestedScope {
  const { depth, brand, follow, mode, order, maxFreeChecks, skipFresherThan, maxStaleness } = flags;
  return {
    depth,
    brands: brand,
    follow,
    mode,
    order,
    maxFreeChecks,
    ...(skipFresherThan !== undefined && { skipFresherThanMillis: skipFresherThan }),
    ...(maxStaleness !== undefined && { maxStalenessMillis: maxStaleness }),
  };
}
