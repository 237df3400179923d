/** `armoire sandbox`: runs a sandbox until it is told to stop. */
import { type Command, Option } from "commander";
import { allowanceHeaderStyles } from "../../../sandbox/accounts/allowance.ts";
import { faultPresetNames } from "../../../sandbox/faults/fault-rules.ts";
import { etagStyles } from "../../../sandbox/http/content.ts";
import {
  type FaultsOption,
  presetNames,
  SandboxOptionError,
  type SandboxOptions,
} from "../../../sandbox/options.ts";
import { layouts } from "../../../sandbox/resources/addresses.ts";
import { paginations } from "../../../sandbox/resources/resource.ts";
import { measurementShapes, picturePlaces } from "../../../sandbox/resources/view.ts";
import { type Sandbox, startSandbox } from "../../../sandbox/sandbox.ts";
import { wholeNumber } from "../../flags/option-values.ts";
import { readSettings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import type { Io } from "../../terminal/io.ts";

/** As commander names them: flags in camel case. */
interface Flags extends Omit<SandboxOptions, "windowSeconds" | "latencyMillis" | "faults" | "allowance"> {
  // Of null, commander makes an empty text.
  readonly allowance: number | "none";
  readonly window?: number;
  readonly latency?: number;
  readonly faults?: string;
}

const examples = `
Examples:
  armoire sandbox
  armoire sandbox --preset real --port 8080
  armoire sandbox --allowance 30 --window 86400 --users 3
  armoire sandbox --allowance 30 --allowance-headers none --count-not-modified --count-root
  armoire sandbox --layout opaque --pagination cursor --service-name other --faults flaky

Stop it with Ctrl-C. docs/sandbox.md describes its administration under /__sandbox/ and the fault rules.`;

export function configure(command: Command, io: Io): void {
  command
    .option("--port <n>", "port to listen on; 0 takes a free one", wholeNumber, 0)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--seed <n>", "everything follows from it", wholeNumber, 1)
    .addOption(new Option("--preset <name>", "size of the catalogue").choices(presetNames).default("small"))
    .option("--brands <n>", "brands, in place of the preset's", wholeNumber)
    .option("--models <n>", "models of all brands together", wholeNumber)
    .option("--sizes <n>", "sizes of all models together, about", wholeNumber)
    .option("--page-size <n>", "items on a page", wholeNumber, 20)
    .option("--paginate-sizes", "give a model's sizes in pages too")
    .addOption(new Option("--layout <name>", "what paths look like").choices(layouts).default("plain"))
    .addOption(
      new Option("--pagination <name>", "how pages are asked for").choices(paginations).default("page"),
    )
    .option(
      "--allowance <n>",
      "counted requests that each credential has in a window, or none: no limit, and nothing tells of one",
      allowanceNumber,
      1_000_000,
    )
    .option("--window <seconds>", "length of an allowance window", wholeNumber, 86_400)
    .addOption(
      new Option("--allowance-headers <style>", "how headers tell when a window ends")
        .choices(allowanceHeaderStyles)
        .default("epoch"),
    )
    .option("--count-not-modified", 'count "not modified" too')
    .option("--count-root", "count the root too")
    .addOption(new Option("--etag <style>", "validators").choices(etagStyles).default("strong"))
    .option("--latency <ms>", "milliseconds before every reply", wholeNumber, 0)
    .option("--faults <preset|file>", `${faultPresetNames.join(", ")}, or a JSON file of rules`)
    .option("--users <n>", "users whose tokens are printed", wholeNumber, 1)
    .addOption(
      new Option("--measurements <shape>", "what a user's measurements look like")
        .choices(measurementShapes)
        .default("linked"),
    )
    .addOption(
      new Option("--pictures <place>", "where pictures are: at a host that is not there, or at the sandbox")
        .choices(picturePlaces)
        .default("elsewhere"),
    )
    .option("--unauthorized-status <n>", 'status of "Not authenticated"', wholeNumber, 401)
    .addHelpText("after", examples)
    .action(async () => {
      const settings = readSettings(command, io);
      const sandbox = await start(command.opts<Flags>(), settings.serviceName.value ?? "service");
      const stopped = new Promise((resolve) => io.onInterrupt(resolve));
      io.out(settings.json ? `${JSON.stringify(describe(sandbox))}\n` : introduce(sandbox));
      // To be stopped is how a server ends: exit code 0.
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
        "Choose another --port, or 0 for any free one.",
        { cause: error },
      );
    }
    throw error;
  }
}

/** Leaves out the flags of every command, which are no options of a sandbox. */
function pickOptions(flags: Omit<Flags, "window" | "latency" | "faults">): SandboxOptions {
  const { host, port, seed, preset, brands, models, sizes, pageSize, paginateSizes } = flags;
  const { layout, pagination, etag, users, measurements, pictures, unauthorizedStatus } = flags;
  const { allowance, allowanceHeaders, countNotModified, countRoot } = flags;
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
    unauthorizedStatus,
    allowance: allowance === "none" ? null : allowance,
    allowanceHeaders,
    countNotModified,
    countRoot,
  };
}

function allowanceNumber(value: string): number | "none" {
  return value === "none" ? value : wholeNumber(value);
}

function readFaultsFlag(value: string): FaultsOption {
  return faultPresetNames.find((name) => name === value) ?? { file: value };
}

function describe({ url, totals, users, app }: Sandbox): object {
  return {
    url,
    totals,
    users: users.map(({ username, token, scopes }) => ({ username, token, scopes })),
    app,
  };
}

function introduce({ url, totals, users, app }: Sandbox): string {
  const lines = [
    url,
    `  ${totals.brands} brands, ${totals.models} models, ${totals.sizes} sizes`,
    `  application  ${app.key}:${app.secret}`,
    ...users.map(({ username, token, scopes }) => `  user ${username}  ${token}  (${scopes.join(" ")})`),
  ];
  return `${lines.join("\n")}\n`;
}
