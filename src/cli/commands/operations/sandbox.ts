/** `armoire sandbox`: runs a local service until it is interrupted. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { formatCount } from "../../../presentation/numbers.ts";
import type { CredentialAllowances } from "../../../sandbox/accounts/allowance.ts";
import { faultPresetNames } from "../../../sandbox/faults/fault-rules.ts";
import {
  type FaultsOption,
  presetNames,
  SandboxOptionError,
  type SandboxOptions,
} from "../../../sandbox/options.ts";
import { type Sandbox, startSandbox } from "../../../sandbox/sandbox.ts";
import { variants } from "../../../sandbox/variants.ts";
import { wholeNumber } from "../../flags/option-values.ts";
import { readSettings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp } from "../../terminal/help.ts";
import type { Io } from "../../terminal/io.ts";

/** As commander names them. */
interface Flags extends Omit<SandboxOptions, "windowSeconds" | "latencyMillis" | "faults" | "allowance"> {
  // Commander turns null into an empty text.
  readonly allowance: number | "none";
  readonly window?: number;
  readonly latency?: number;
  readonly faults?: string;
}

export function configure(command: Command, io: Io): void {
  command
    .option("--port <n>", "port to listen on; 0 picks a free one", wholeNumber, 0)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--seed <n>", "seed of all generated data", wholeNumber, 1)
    .addOption(new Option("--preset <name>", "size of the catalogue").choices(presetNames).default("small"))
    .option("--brands <n>", "total of brands, instead of the preset's", wholeNumber)
    .option("--models <n>", "total of models, instead of the preset's", wholeNumber)
    .option("--sizes <n>", "approximate total of sizes, instead of the preset's", wholeNumber)
    .option("--page-size <n>", "items per page", wholeNumber, 20)
    .option("--paginate-sizes", "split the sizes of a model into pages, too")
    .addOption(new Option("--layout <name>", "style of paths").choices(variants.layout).default("plain"))
    .addOption(
      new Option("--pagination <name>", "style of page links").choices(variants.pagination).default("page"),
    )
    .option(
      "--allowance <n>",
      "counted requests per credential and window; none for no limit and no headers",
      allowanceNumber,
      1_000_000,
    )
    .option(
      "--allowances <list>",
      "instead, by kind of credential, such as none=30,app=300,user=100",
      allowanceList,
    )
    .option("--window <seconds>", "length of a window", wholeNumber, 86_400)
    .addOption(
      new Option("--allowance-headers <style>", "format of the reset time in headers; none for no headers")
        .choices(variants.allowanceHeaders)
        .default("epoch"),
    )
    .addOption(
      new Option("--rate-limit-fields <names>", "names of the allowance headers")
        .choices(variants.rateLimitFields)
        .default("x-ratelimit"),
    )
    .addOption(
      new Option("--limit-meaning <what>", "what the reported limit is: the grant, or the part used")
        .choices(variants.limitMeaning)
        .default("granted"),
    )
    .addOption(
      new Option("--spent-response <form>", "response when nothing is left: with or without an explanation")
        .choices(variants.spentResponse)
        .default("explained"),
    )
    .option("--count-not-modified", 'count "not modified" responses, too')
    .option("--count-root", "count requests for the root, too")
    .addOption(new Option("--etag <style>", "kind of ETags").choices(variants.etag).default("strong"))
    .option("--emptied-lists", "answer a list as empty once all its pages were read")
    .option("--cors", "let browsers read responses in pages of other origins")
    .option("--latency <ms>", "delay of every response in milliseconds", wholeNumber, 0)
    .option("--faults <preset|file>", `${faultPresetNames.join(", ")}, or a JSON file of rules`)
    .option("--users <n>", "number of users, whose tokens are printed", wholeNumber, 1)
    .addOption(
      new Option("--measurements <shape>", "representation of measurements")
        .choices(variants.measurements)
        .default("linked"),
    )
    .option("--null-measurements", "leave out some measurements of bras, as null")
    .addOption(
      new Option("--pictures <place>", "host of pictures: an unreachable one, or the sandbox")
        .choices(variants.pictures)
        .default("elsewhere"),
    )
    .addOption(
      new Option("--missing-scope <form>", "response to a token without the scope of bras or measurements")
        .choices(variants.missingScope)
        .default("null-link"),
    )
    .option("--unauthorized-status <n>", 'status code of "Not authenticated" responses', wholeNumber, 401);
  addHelp(command, {
    details: [
      "It prints its address, an application's key and secret, and a token for each user, and runs until Ctrl-C. " +
        "docs/sandbox.md describes the faults, and the requests below /__sandbox/ that change the service.",
    ],
    examples: [
      "armoire sandbox",
      "armoire sandbox --preset real --port 8080",
      "armoire sandbox --allowance 30 --window 86400 --users 3",
      "armoire sandbox --allowance 30 --allowance-headers none --count-root",
      "armoire sandbox --allowances none=30,app=300 --spent-response bare-403",
      "armoire sandbox --layout opaque --pagination cursor --faults flaky",
    ],
    exitCodes: ["done", "failed", "usage"],
  });
  command.action(async () => {
    const settings = readSettings(command, io);
    const sandbox = await start(command.opts<Flags>(), settings.serviceName.value ?? "service");
    const stopped = new Promise((resolve) => io.onInterrupt(resolve));
    io.out(settings.json ? toJsonLine(describeForJson(sandbox)) : describeForTerminal(sandbox));
    // Ctrl-C is the normal end of a server, so the exit code is 0.
    await stopped;
    await sandbox.close();
  });
}

async function start(flags: Flags, serviceName: string): Promise<Sandbox> {
  const { window, latency, faults, ...rest } = flags;
  try {
    return await startSandbox({
      ...pickOptions(rest),
      serviceName,
      windowSeconds: window,
      latencyMillis: latency,
      ...(faults !== undefined && { faults: readFaultsFlag(faults) }),
    });
  } catch (error) {
    if (error instanceof SandboxOptionError) {
      throw new CliError("usage", error.message, error.hint, { cause: error });
    }
    if (error instanceof Error && "syscall" in error && error.syscall === "listen") {
      throw new CliError(
        "failed",
        `The sandbox cannot listen on ${flags.host} port ${flags.port}: ${error.message}.`,
        "Choose another --port, or 0 for a free one.",
        { cause: error },
      );
    }
    throw error;
  }
}

/** Leaves out the global options. */
function pickOptions(flags: Omit<Flags, "window" | "latency" | "faults">): SandboxOptions {
  const { host, port, seed, preset, brands, models, sizes, pageSize, paginateSizes } = flags;
  const { layout, pagination, etag, users, measurements, pictures, missingScope, unauthorizedStatus } = flags;
  const { allowance, allowances, allowanceHeaders, rateLimitFields, limitMeaning, spentResponse } = flags;
  const { countNotModified, countRoot, nullMeasurements, emptiedLists, cors } = flags;
  return {
    host,
    port,
    seed,
    preset,
    brands,
    models,
    sizes,
    pageSize,
    paginateSizes,
    layout,
    pagination,
    etag,
    users,
    measurements,
    pictures,
    missingScope,
    unauthorizedStatus,
    allowance: allowance === "none" ? null : allowance,
    allowances,
    allowanceHeaders,
    rateLimitFields,
    limitMeaning,
    spentResponse,
    countNotModified,
    countRoot,
    nullMeasurements,
    emptiedLists,
    cors,
  };
}

function allowanceNumber(value: string): number | "none" {
  return value === "none" ? value : wholeNumber(value);
}

/** @param value such as `none=30,app=none` */
function allowanceList(value: string): CredentialAllowances {
  const entries = value.split(",").map((entry): [string, number | null] => {
    const [kind = "", count = ""] = entry.split("=");
    if (!credentialKinds.includes(kind))
      throw new InvalidArgumentError("Write none=30,app=300,user=100, or a part of it.");
    const allowance = allowanceNumber(count);
    return [kind, allowance === "none" ? null : allowance];
  });
  return Object.fromEntries(entries);
}

const credentialKinds: readonly string[] = ["none", "app", "user"] satisfies (keyof CredentialAllowances)[];

function readFaultsFlag(value: string): FaultsOption {
  return faultPresetNames.find((name) => name === value) ?? { file: value };
}

function describeForJson({ url, totals, users, app }: Sandbox): object {
  return {
    url,
    totals,
    users: users.map(({ username, token, scopes }) => ({ username, token, scopes })),
    app,
  };
}

function describeForTerminal({ url, totals, users, app }: Sandbox): string {
  const lines = [
    url,
    `  ${formatCount(totals.brands, "brand")}, ${formatCount(totals.models, "model")}, ${formatCount(totals.sizes, "size")}`,
    `  application  ${app.key}:${app.secret}`,
    ...users.map(({ username, token, scopes }) => `  user ${username}  ${token}  (${scopes.join(" ")})`),
  ];
  return `${lines.join("\n")}\n`;
}
