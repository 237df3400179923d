/** Which mirror a command is about, and which ledger. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Area } from "../../../schema/kind.ts";
import { catalogueMirrorFile, listCatalogueMirrors } from "../../mirror/file/paths.ts";
import type { Point } from "../../mirror/points/point.ts";
import { type MirrorReader, readMirror } from "../../mirror/reader.ts";
import { CliError } from "../terminal/exit-codes.ts";
import type { Settings } from "./settings.ts";

/** The mirrors that a command may be about: the one named, the base URL's, or all there are. @throws a system error */
export function candidateMirrorFiles({ account, mirror, baseUrl, dataDir }: Settings): string[] {
  // An account without a mirror is one that was not synced yet.
  if (account !== null) return [account.mirrorFile].filter((file) => existsSync(file));
  if (mirror.value !== null) return [mirror.value];
  if (baseUrl.value !== null) return [catalogueMirrorFile(dataDir.value, baseUrl.value)];
  return listCatalogueMirrors(dataDir.value);
}

/** The mirror to read: the account's, the one named, the base URL's, or the only one there is. @throws CliError */
export function mirrorFileToRead(settings: Settings): string {
  const { account } = settings;
  if (account !== null && !existsSync(account.mirrorFile)) {
    throw new CliError(
      "failed",
      `Nothing of the account ${account.name} is mirrored yet.`,
      `\`armoire sync --account ${account.name}\` mirrors it.`,
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
      ? "`armoire sync --base-url URL` makes one; --mirror FILE names one elsewhere."
      : "Say which with --base-url URL or --mirror FILE.",
  );
}

/**
 * Has the mirror open for as long as `use` takes.
 * @param asOf shows it as it was then
 * @throws CliError, PointError, and MirrorError, also where damage shows only while the file is read
 */
export function withMirror<Result>(
  settings: Settings,
  use: (mirror: MirrorReader) => Result,
  asOf?: Point,
): Result {
  return readMirror(mirrorFileToRead(settings), use, asOf);
}

/** The mirror of the account's service's catalogue, for reading beside it; null where there is none. */
export function catalogueFileBeside(settings: Settings): string | null {
  if (settings.account === null) return null;
  const file = catalogueFileOf(settings);
  return existsSync(file) ? file : null;
}

/** Where the mirror of the service's catalogue is, or would be. */
export function catalogueFileOf({ baseUrl, dataDir }: Settings): string {
  return catalogueMirrorFile(dataDir.value, baseUrl.value ?? "");
}

/** The mirror to sync, and where from. @throws CliError when no base URL is set */
export function mirrorFileToSync({ mirror, baseUrl, dataDir }: Settings): { file: string; baseUrl: string } {
  if (baseUrl.value === null) {
    throw new CliError(
      "settings",
      "The service's base URL is not set.",
      "Give --base-url URL or ARMOIRE_BASE_URL; `armoire sandbox` runs a service to try.",
    );
  }
  return {
    file: mirror.value ?? catalogueMirrorFile(dataDir.value, baseUrl.value),
    baseUrl: baseUrl.value,
  };
}

/**
 * For a sync of the catalogue: an account's mirror takes her token, and has its place.
 * @throws CliError for the mirror of an account
 */
export function refuseMirrorOfAccount({ account, mirror }: Settings): void {
  if (account !== null || mirror.value === null || !existsSync(mirror.value)) return;
  const area = readMirror(mirror.value, ({ identity }) => identity.area);
  if (area !== "account") return;
  throw new CliError(
    "usage",
    `This is the mirror of an account, which is synced with her token: ${mirror.value}`,
    "`armoire sync --account NAME` syncs the one in its place; `armoire backup restore FILE --account NAME` puts a backup there.",
  );
}

/** The mirror to plan for: the one to sync where the base URL is set, else the one to read. @throws CliError, MirrorError */
export function mirrorFileToPlan(settings: Settings): { file: string; baseUrl: string; area?: Area } {
  if (settings.baseUrl.value !== null) return mirrorFileToSync(settings);
  return withMirror(settings, ({ file, identity: { baseUrl, area } }) => ({ file, baseUrl, area }));
}

/** One for the whole data directory, wherever its mirrors are: they may share an allowance. An account has its own. */
export function ledgerFile({ account, dataDir }: Settings): string {
  return account?.ledgerFile ?? catalogueLedgerFile({ dataDir });
}

/** Of all that is asked with the catalogue's credential, or with none. */
export function catalogueLedgerFile({ dataDir }: Pick<Settings, "dataDir">): string {
  return join(dataDir.value, "ledger.sqlite");
}
