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
  readonly free: number;
  readonly maxAge?: number;
  readonly sweep?: number;
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
    .option("--free <n>", "checks that cost nothing, at most in a run", wholeNumber, defaultMaxFreeChecks)
    .option(
      "--max-age <duration>",
      "incremental: leave alone what was checked more recently, such as 12h",
      durationMillis,
    )
    .option("--sweep <duration>", "the age that nothing held should pass; 30d unless told", durationMillis);
}

export interface SpendingFlags {
  readonly budget?: number;
  readonly reserve?: number;
}

export function addSpendingFlags(command: Command): Command {
  return command
    .option("--budget <n>", "counted requests at most in this run", wholeNumber)
    .option("--reserve <n>", "requests of the allowance to leave for others", wholeNumber);
}

export function spendingOptionsOf({ budget, reserve }: SpendingFlags) {
  return { budget: budget ?? null, ...(reserve !== undefined && { reserve }) };
}

export type RequestedScope = ScopeOptions & Pick<ScopeFlags, "depth" | "order">;

const flagsOfCatalogue = ["depth", "brand", "order", "free", "sweep"] as const;

/** What an account is walked by: it has no depths, brands or order, and all of it is checked. @throws CliError */
export function scopeOptionsFor(account: Account | null, command: Command): RequestedScope {
  const options = walkOptionsOf(command.opts<ScopeFlags>());
  if (account === null) return options;
  const stray = flagsOfCatalogue.find((name) => command.getOptionValueSource(name) === "cli");
  if (stray === undefined) return { ...options, area: "account" };
  throw new CliError(
    "usage",
    `--${stray} is for the catalogue.`,
    "An account is mirrored whole, and checked whole in every run.",
  );
}

function walkOptionsOf(flags: ScopeFlags): RequestedScope {
  const { depth, brand, follow, mode, order, free, maxAge, sweep } = flags;
  return {
    depth,
    brands: brand,
    follow,
    mode,
    order,
    maxFreeChecks: free,
    ...(maxAge !== undefined && { skipFresherThanMillis: maxAge }),
    ...(sweep !== undefined && { maxStalenessMillis: sweep }),
  };
}
