/** Selects the mirror file and the ledger file of a command. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Area } from "../../../schema/kind.ts";
import { MirrorError } from "../../mirror/file/errors.ts";
import { catalogueMirrorFile, listCatalogueMirrors } from "../../mirror/file/paths.ts";
import type { Point } from "../../mirror/points/point.ts";
import { type MirrorReader, openMirrorReader, readMirror } from "../../mirror/reader.ts";
import { requireNotOwn, requireOutsideOwnFolders } from "../../platform/files/replaceable-files.ts";
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import type { Settings } from "./settings.ts";

/** The mirrors that match the settings: the named one, the base URL's, or all. @throws a system error */
export function candidateMirrorFiles({ account, mirror, baseUrl, dataDir }: Settings): string[] {
  // An account has no mirror before its first sync.
  if (account !== null) return [account.mirrorFile].filter((file) => existsSync(file));
  if (mirror.value !== null) return [mirror.value];
  if (baseUrl.value !== null) return [catalogueMirrorFile(dataDir.value, baseUrl.value)];
  return listCatalogueMirrors(dataDir.value);
}

/** The mirror to read: the account's, the named one, the base URL's, or the only one. @throws CliError */
export function mirrorFileToRead(settings: Settings): string {
  const { account } = settings;
  if (account !== null && !existsSync(account.mirrorFile)) {
    throw new CliError(
      "failed",
      `The account ${account.name} is not mirrored yet.`,
      `Mirror it with \`armoire sync --account ${account.name}\`.`,
    );
  }
  const candidates = candidateMirrorFiles(settings);
  const [only] = candidates;
  if (only !== undefined && candidates.length === 1) return only;
  const dataDir = settings.dataDir.value;
  throw new CliError(
    "settings",
    only === undefined
      ? `There is no mirror in ${dataDir} yet.`
      : `There are ${candidates.length} mirrors in ${dataDir}.`,
    only === undefined
      ? "Create one with `armoire sync --base-url URL`, or name one with --mirror FILE."
      : "Select one with --base-url URL or --mirror FILE.",
  );
}

/**
 * Opens the mirror, calls `use`, and closes it.
 * @param asOf default: the latest state
 * @throws CliError, PointError, and MirrorError, also for damage that is found while reading
 */
export function withMirror<Result>(
  settings: Settings,
  use: (mirror: MirrorReader) => Result,
  asOf?: Point,
): Result {
  return readMirror(mirrorFileToRead(settings), use, asOf);
}

/** The existing catalogue mirror of the account's service; null without an account or a mirror. */
export function catalogueFileBeside(settings: Settings): string | null {
  if (settings.account === null) return null;
  const file = catalogueFileOf(settings);
  return existsSync(file) ? file : null;
}

/** The same; null with a warning if it cannot be read. */
export function readableCatalogueBeside(settings: Settings, io: Pick<Io, "err">): string | null {
  const file = catalogueFileBeside(settings);
  if (file === null) return null;
  try {
    openMirrorReader(file).close();
    return file;
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    if (!settings.quiet) io.err(`The catalogue is left out: ${error.message}\n`);
    return null;
  }
}

/** The path of the service's catalogue mirror, which may not exist. */
export function catalogueFileOf({ baseUrl, dataDir }: Settings): string {
  return catalogueMirrorFile(dataDir.value, baseUrl.value ?? "");
}

/** The mirror to sync and its service. @throws CliError without a base URL; FileError for a new one at a place of other files */
export function mirrorFileToSync(settings: Settings): { file: string; baseUrl: string } {
  const { account, mirror, baseUrl, dataDir } = settings;
  if (baseUrl.value === null) {
    throw new CliError(
      "settings",
      "The service's base URL is not set.",
      "Give --base-url URL or ARMOIRE_BASE_URL. `armoire sandbox` runs a service to try.",
    );
  }
  const file = mirror.value ?? catalogueMirrorFile(dataDir.value, baseUrl.value);
  if (account === null) requirePlaceForMirror(file, settings);
  return { file, baseUrl: baseUrl.value };
}

/** An existing mirror may be anywhere. @throws FileError for a new one at a place of other files */
export function requirePlaceForMirror(file: string, { dataDir }: Pick<Settings, "dataDir">): void {
  if (existsSync(file)) return;
  requireNotOwn(file);
  requireOutsideOwnFolders(file, dataDir.value);
}

/**
 * @throws CliError if --mirror names an account's mirror: it is synced with the token, at its own path
 */
export function refuseMirrorOfAccount({ account, mirror }: Settings): void {
  if (account !== null || mirror.value === null || !existsSync(mirror.value)) return;
  const area = readMirror(mirror.value, ({ identity }) => identity.area);
  if (area !== "account") return;
  throw new CliError(
    "usage",
    `This mirror belongs to an account, so its sync needs --account: ${mirror.value}`,
    "Use `armoire sync --account NAME`. `armoire backup restore FILE --account NAME` restores a backup for it.",
  );
}

/** The mirror to plan for: with a base URL the one to sync, else the one to read. @throws CliError, MirrorError */
export function mirrorFileToPlan(settings: Settings): { file: string; baseUrl: string; area?: Area } {
  if (settings.baseUrl.value !== null) return mirrorFileToSync(settings);
  return withMirror(settings, ({ file, identity: { baseUrl, area } }) => ({ file, baseUrl, area }));
}

/** One ledger per data directory, because mirrors may share an allowance. An account has its own. */
export function ledgerFile({ account, dataDir }: Settings): string {
  return account?.ledgerFile ?? catalogueLedgerFile({ dataDir });
}

/** The ledger of requests with the catalogue's credential, or without one. */
export function catalogueLedgerFile({ dataDir }: Pick<Settings, "dataDir">): string {
  return join(dataDir.value, "ledger.sqlite");
}
