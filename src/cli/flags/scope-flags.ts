/** The options of `sync` and `plan`: which resources, in which order, and at which cost. */
import { type Command, Option } from "commander";
import { type Depth, depths } from "../../../schema/kind.ts";
import type { Account } from "../../accounts/account.ts";
import { quoteWord } from "../../platform/text/shell-words.ts";
import type { ScopeOptions } from "../../sync/options.ts";
import { defaultMaxFreeChecks, type Mode, modes, type Order, orders } from "../../sync/plan/request.ts";
import { CliError } from "../terminal/exit-codes.ts";
import { collect, concurrencyNumber, durationMillis, wholeNumber } from "./option-values.ts";

export interface ScopeFlags {
  readonly depth: Depth;
  readonly brand: readonly string[];
  readonly follow: readonly string[];
  readonly mode: Mode;
  readonly order: Order;
  readonly maxFreeChecks?: number;
  readonly skipFresherThan?: number;
  readonly maxStaleness?: number;
  readonly checkConcurrency: number;
}

export function addScopeFlags(command: Command): Command {
  return command
    .addOption(new Option("--depth <depth>", "the deepest kind to fetch").choices(depths).default("sizes"))
    .option("--brand <name>", "only this brand, by name, slug or URL (repeatable)", collect, [])
    .option(
      "--follow <link>",
      "also follow this link: related, same_cut, adjacent_sizes, or another that `armoire status` names (repeatable)",
      collect,
      [],
    )
    .addOption(
      new Option("--mode <mode>", "check what may have changed, check everything, or fetch everything again")
        .choices(modes)
        .default("incremental"),
    )
    .addOption(
      new Option("--order <order>", "most bras first, level by level, or brand by brand")
        .choices(orders)
        .default("value"),
    )
    .addOption(
      new Option("--max-free-checks <n>", "at most N free checks in an incremental run")
        .argParser(wholeNumber)
        .default(undefined, `${defaultMaxFreeChecks}; with an ample allowance, ten minutes of them`),
    )
    .option(
      "--skip-fresher-than <duration>",
      "in an incremental run, skip resources checked more recently, such as 90m, 12h or 3d",
      durationMillis,
    )
    .addOption(
      new Option("--max-staleness <duration>", "check every resource at least this often")
        .argParser(durationMillis)
        .default(undefined, "30d"),
    )
    .option(
      "--check-concurrency <n>",
      "at most N checks at a time, within --concurrency; more than 1 asks more of the service",
      concurrencyNumber,
      1,
    );
}

/** The options that leave out a part of the catalogue, as they are given; null if there are none. */
export function limitsOf({ depth, brand }: Pick<ScopeFlags, "depth" | "brand">): string | null {
  const limits = [
    ...(depth === depths.at(-1) ? [] : [`--depth ${depth}`]),
    ...brand.map((name) => `--brand ${quoteWord(name)}`),
  ];
  return limits.length === 0 ? null : limits.join(" ");
}

export interface SpendingFlags {
  readonly budget?: number;
  readonly reserve?: number;
}

export function addSpendingFlags(command: Command): Command {
  return command
    .option("--budget <n>", "spend at most N counted requests in this run", wholeNumber)
    .addOption(
      new Option("--reserve <n>", "leave N requests of the allowance unused")
        .argParser(wholeNumber)
        .default(undefined, "0"),
    );
}

export function spendingOptionsOf({ budget, reserve }: SpendingFlags) {
  return { budget: budget ?? null, ...(reserve !== undefined && { reserve }) };
}

export type RequestedScope = ScopeOptions & Pick<ScopeFlags, "depth" | "order">;

const catalogueFlags = ["depth", "brand", "order", "maxFreeChecks", "maxStaleness"] as const;

/** An account is mirrored and checked as a whole, so options of the catalogue are refused. @throws CliError */
export function scopeOptionsFor(account: Account | null, command: Command): RequestedScope {
  const options = readScopeOptions(command.opts<ScopeFlags>());
  if (account === null) return options;
  const misplaced = command.options.find(
    (option) =>
      catalogueFlags.some((name) => name === option.attributeName()) &&
      command.getOptionValueSource(option.attributeName()) === "cli",
  );
  if (misplaced === undefined) return { ...options, area: "account" };
  throw new CliError(
    "usage",
    `${misplaced.long} cannot be given with --account: it is for the catalogue.`,
    "Leave it out: every sync mirrors and checks a whole account.",
  );
}

function readScopeOptions(flags: ScopeFlags): RequestedScope {
  const { depth, brand, follow, mode, order, maxFreeChecks, skipFresherThan, maxStaleness } = flags;
  const { checkConcurrency } = flags;
  return {
    depth,
    brands: brand,
    follow,
    mode,
    order,
    checkConcurrency,
    ...(maxFreeChecks !== undefined && { maxFreeChecks }),
    ...(skipFresherThan !== undefined && { skipFresherThanMillis: skipFresherThan }),
    ...(maxStaleness !== undefined && { maxStalenessMillis: maxStaleness }),
  };
}
