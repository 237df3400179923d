/** `armoire serve`: serves a mirror as local web pages, and as the service's own API, until it is interrupted. */
import { statSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { type Command, InvalidArgumentError } from "commander";
import { readNewestBackup } from "../../../accounts/newest-backup.ts";
import { parsePoint, pointContext } from "../../../mirror/points/point.ts";
import { readMirror } from "../../../mirror/reader.ts";
import { isLoopback } from "../../../platform/network/ip-class.ts";
import { readRuns } from "../../../schedule/run-history.ts";
import { listSchedules } from "../../../schedule/schedules.ts";
import type { ShownSchedules } from "../../../web/page.ts";
import { createServer } from "../../../web/server.ts";
import type { AccountSource, ApiServerOptions, WebServer } from "../../../web/start-servers.ts";
import { type AsOfFlags, asOfOption } from "../../flags/as-of.ts";
import { collect, portNumber, positiveNumber, wholeNumber } from "../../flags/option-values.ts";
import { toListed, toShownSchedules } from "../../format/operations/schedules.ts";
import { readOutlook } from "../../read-plan.ts";
import { type RedisFlags, readRedisAddress } from "../../secrets/redis-address.ts";
import {
  candidateMirrorFiles,
  catalogueFileBeside,
  catalogueLedgerFile,
  mirrorFileToRead,
} from "../../settings/mirror-file.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import { CliError } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import type { Io } from "../../terminal/io.ts";
import { openBrowser } from "../../terminal/other-programs.ts";

interface ServeFlags extends AsOfFlags, RedisFlags {
  readonly port: number;
  readonly host: string;
  readonly open?: boolean;
  readonly allowActions?: boolean;
  readonly apiPort?: number;
  readonly apiName: readonly string[];
  readonly allowance?: number;
  readonly window?: number;
  readonly cors: readonly string[];
}

const secondsPerDay = 86_400;

export function configure(command: Command, io: Io): void {
  command
    .option("--port <n>", "port to listen on; 0 picks a free one", portNumber, 8900)
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .addOption(asOfOption())
    .option("--open", "open the pages in the browser")
    .option(
      "--api-port <n>",
      "port of the API (default: the one after --port; 0 picks a free one)",
      portNumber,
    )
    .option(
      "--api-name <name>",
      "accept requests to the API with this host name, too (repeatable)",
      collect,
      [],
    )
    .option("--allowance <n>", "limit clients of the API to N counted requests in a window", wholeNumber)
    .option("--window <seconds>", "with --allowance: the length of a window (default: a day)", positiveNumber)
    .option(
      "--cors <origin>",
      "let pages of this origin read the API; * for any (repeatable)",
      collectOrigin,
      [],
    )
    .option("--redis <url>", "also show runs, failures, workers and queues of this Redis (ARMOIRE_REDIS_URL)")
    .option(
      "--allow-actions",
      "with --redis: let the queues' pages pause queues, delete jobs and retry resources",
    );
  addHelp(command, {
    details: [
      "Prints an address at which a browser shows the mirror: brands, models, the sizes that they cover, their history, " +
        "changes, questions and SQL, the plan, and a search. Every list is also there as .csv, .ndjson and .json. It reads files only, and never connects to the service.",
      "The second address is the service's own API, answered from the mirror: a base URL for any client of the service, without " +
        "limits unless --allowance sets one. With --account NAME it also has that user's resources, for requests with the printed " +
        "key as token.",
      "With --redis, /operations shows what coordinators and workers share, and /queues, which needs the key, every job.",
      "Both are for this machine. With another --host they need the key that is printed with the address.",
    ],
    examples: [
      "armoire serve",
      "armoire serve --port 0 --open",
      "armoire serve --as-of 2026-11-03",
      "armoire serve --account ada",
      "armoire serve --allowance 30 --cors http://localhost:5173",
      "armoire serve --redis redis://127.0.0.1:6379",
      "armoire serve --json",
    ],
    exitCodes: exitCodesOfReading,
  });
  command.action(async () => {
    const flags = command.opts<ServeFlags>();
    const settings = readSettings(command, io);
    const redis = readRedisAddress(flags, io);
    // On a busy machine, each collection would wait for threads of V8 that get no processor.
    setFlagsFromString("--no-parallel-scavenge");
    const server = await createServer({
      redis,
      allowsActions: allowsActions(flags, redis),
      findCatalogue: catalogueFinder(settings),
      ledgerFile: catalogueLedgerFile(settings),
      port: flags.port,
      host: flags.host,
      ...(flags.asOf !== undefined && { asOf: parsePoint(flags.asOf, pointContext()) }),
      account: accountSourceOf(settings),
      api: apiOptionsOf(flags, settings, io),
      readSchedules: () => readShownSchedules(settings, null),
      onError: (text) => io.err(`${text}\n`),
    });
    const stopped = new Promise((resolve) => io.onInterrupt(resolve));
    await io.out(
      settings.json
        ? toJsonLine(describeForJson(server, settings, redis))
        : describeForTerminal(server, settings, redis),
    );
    if (flags.open && !(await openBrowser(server.url, io.env))) io.err("No browser could be opened.\n");
    // Ctrl-C is the normal end of a server, so the exit code is 0.
    await stopped;
    await server.close();
  });
}

/** A mirror may be created while the server runs; several are a mistake that is reported at once. */
function catalogueFinder(settings: Settings): () => string | null {
  if (settings.account !== null) return () => catalogueFileBeside(settings);
  if (candidateMirrorFiles(settings).length > 1) mirrorFileToRead(settings);
  return () => candidateMirrorFiles(settings)[0] ?? null;
}

function accountSourceOf(settings: Settings): AccountSource | null {
  const { account } = settings;
  if (account === null) return null;
  const isSameFolder = watchFolder(account.folder);
  return {
    name: account.name,
    findMirror: () => (isSameFolder() ? (candidateMirrorFiles(settings)[0] ?? null) : null),
    readNewestBackup: () => readNewestBackup(account),
    readSchedules: () => readShownSchedules(settings, account.name),
  };
}

/** @returns whether it is still the same one: after its removal, an account of another user may get its name */
function watchFolder(folder: string): () => boolean {
  const identify = (): string | null => {
    const stats = statSync(folder, { throwIfNoEntry: false, bigint: true });
    return stats === undefined ? null : `${stats.dev} ${stats.ino} ${stats.birthtimeNs}`;
  };
  const first = identify();
  return () => identify() === first;
}

function readShownSchedules(settings: Settings, account: string | null): ShownSchedules {
  const dataDir = settings.dataDir.value;
  const listed = listSchedules(dataDir).map((one) => toListed(one, readRuns(dataDir, one.name)));
  return toShownSchedules(listed, account, Date.now());
}

function apiOptionsOf(flags: ServeFlags, settings: Settings, io: Io): ApiServerOptions {
  const { allowance, window = secondsPerDay } = flags;
  if (allowance === undefined && flags.window !== undefined)
    throw new CliError("usage", "--window needs --allowance.", "Add --allowance N, or leave it out.");
  const findCatalogue = catalogueFinder(settings);
  return {
    port: flags.apiPort ?? (flags.port === 0 ? 0 : flags.port + 1),
    allowedHosts: flags.apiName,
    allowance: allowance === undefined ? null : { limit: allowance, windowSeconds: window },
    corsOrigins: flags.cors,
    readForecast: flags.asOf === undefined ? () => readForecast(findCatalogue(), settings, io) : null,
  };
}

function readForecast(file: string | null, settings: Settings, io: Io) {
  if (file === null) return null;
  const { baseUrl } = readMirror(file, ({ identity }) => identity);
  return readOutlook({ file, baseUrl }, { ...settings, account: null }, io).forecast;
}

function collectOrigin(value: string, earlier: readonly string[]): readonly string[] {
  if (value !== "*" && URL.parse(value)?.origin !== value)
    throw new InvalidArgumentError("It must be an origin such as http://localhost:5173, or *.");
  return collect(value, earlier);
}

/** @throws CliError */
function allowsActions({ allowActions = false, host }: ServeFlags, redis: string | null): boolean {
  if (allowActions && redis === null)
    throw new CliError("usage", "--allow-actions needs --redis.", "Add --redis URL, or leave it out.");
  if (allowActions && !isLoopback(host))
    throw new CliError(
      "usage",
      `--allow-actions needs a loopback address, and other machines can reach ${host}.`,
      "Leave --host out, and open the pages through `ssh -L`.",
    );
  return allowActions;
}

/** The key is shown only where pages need it. */
function describeForJson(
  { url, apiUrl, key, needsKey }: WebServer,
  { account }: Settings,
  redis: string | null,
): unknown {
  return { pages: url, api: apiUrl, key: needsKey || account !== null || redis !== null ? key : null };
}

function describeForTerminal(
  { url, apiUrl, key, needsKey }: WebServer,
  { account }: Settings,
  redis: string | null,
): string {
  const pages = needsKey ? `${url}#key=${key}` : url;
  const mine = account === null ? "" : `The pages of ${account.name} are at ${url}me#key=${key}\n`;
  const queues = redis === null ? "" : `The queues are at ${url}queues#key=${key}\n`;
  const token = needsKey || account !== null ? ` (token: ${key})` : "";
  return `The mirror is at ${pages}\n${mine}${queues}The service's API is at ${apiUrl}${token}\nPress Ctrl-C to stop.\n`;
}
