/** `armoire doctor`: each setting with its source, and checks of the whole set-up. */
import { existsSync } from "node:fs";
import type { Command } from "commander";
import { type Diagnosis, diagnose, diagnoseError } from "../../../doctor/diagnose.ts";
import { diagnoseAccounts } from "../../../doctor/diagnose-accounts.ts";
import { diagnoseRedis } from "../../../doctor/diagnose-redis.ts";
import { diagnoseSecrets } from "../../../doctor/diagnose-secrets.ts";
import type { SearchedItem } from "../../../doctor/find-secrets.ts";
import type { Credential } from "../../../service/credentials/credential.ts";
import { formatDiagnoses } from "../../format/operations/doctor.ts";
import { readCredential } from "../../secrets/credentials.ts";
import { readKnownSecrets } from "../../secrets/known-secrets.ts";
import { addPassphraseOption, type PassphraseFlags } from "../../secrets/passphrase.ts";
import { type RedisFlags, readRedisAddress } from "../../secrets/redis-address.ts";
import { version } from "../../self-command.ts";
import { candidateMirrorFiles, ledgerFile } from "../../settings/mirror-file.ts";
import { readSettings, type Settings } from "../../settings/settings.ts";
import { CliError, exitCodes } from "../../terminal/exit-codes.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { addHelp } from "../../terminal/help.ts";
import { type Io, printText } from "../../terminal/io.ts";

interface DoctorFlags extends PassphraseFlags, RedisFlags {
  readonly offline?: boolean;
  readonly scan?: true | readonly string[];
}

export function configure(command: Command, io: Io): void {
  addPassphraseOption(
    command
      .option("--offline", "do not connect to the service")
      .option("--redis <url>", "check the Redis at this address (ARMOIRE_REDIS_URL)")
      .option("--scan [folder...]", "search the data directory and these folders for leaked secrets"),
  );
  addHelp(command, {
    details: [
      "Checks the settings, the credential, the data directory, the mirror (or all mirrors without --base-url or --mirror), " +
        "the accounts, and the service, with one request for its root. With --account it checks whose token it is, and " +
        "the token's permissions, with two requests. A problem gives exit code 1.",
      "--scan searches for the tokens of all accounts and of the environment, the application's key and secret, the " +
        "passphrase of backups and the password of Redis: plain, URL-encoded, in JSON, base64, hexadecimal or UTF-16, in " +
        "file names, plain files, mirrors and Armoire's own archives, encrypted ones with a known passphrase. With --redis " +
        "it also searches Armoire's keys there. It names the files, never the secrets, and everything that could not be " +
        "searched, such as other archives.",
    ],
    examples: [
      "armoire doctor",
      "armoire doctor --offline --json",
      "armoire doctor --account ada",
      "armoire doctor --offline --scan ~/exports ~/logs",
      "armoire doctor --offline --redis redis://127.0.0.1:6379 --scan",
      "armoire doctor --offline --scan ~/backups --passphrase-file backups.passphrase",
    ],
    exitCodes: ["done", "failed", "usage", "settings"],
  });
  command.action(async (flags: DoctorFlags) => {
    if (flags.scan === undefined && flags.passphraseFile !== undefined)
      throw new CliError("usage", "--passphrase-file needs --scan.", "Add --scan, or leave it out.");
    const settings = readSettings(command, io);
    const examined = await examine(settings, flags, io);
    if (settings.json) io.out(toJsonText(examined));
    else printText(io, formatDiagnoses({ version: version(), node: process.versions.node }, examined));
    if (!examined.diagnoses.every(({ isOk }) => isOk)) io.setExitCode(exitCodes.failed);
  });
}

interface Examined {
  /** Name, value and source. */
  readonly settings: readonly (readonly (string | null)[])[];
  readonly diagnoses: readonly Diagnosis[];
}

async function examine(settings: Settings, flags: DoctorFlags, io: Io): Promise<Examined> {
  const { offline, scan } = flags;
  const credential = await attempt(() => readCredential(settings, io));
  const mirrorFiles = await attempt(() => candidateMirrorFiles(settings));
  const checked = await diagnose({
    dataDir: settings.dataDir.value,
    baseUrl: offline ? null : settings.baseUrl.value,
    mirrorFiles: mirrorFiles.value,
    ledgerFile: ledgerFile(settings),
    credential: credential.value,
    account: settings.account,
  });
  const notConnected = !offline && settings.baseUrl.value === null ? [noService] : [];
  // An unreadable data directory is reported once, by `mirrorFiles`.
  const accounts =
    settings.account === null && mirrorFiles.problem === null
      ? await attempt(() => diagnoseAccounts(settings.dataDir.value))
      : null;
  const address = readRedisAddress(flags, io);
  const redis = address === null ? null : await diagnoseRedis(address);
  try {
    const scanned =
      scan === undefined
        ? []
        : await scanFolders(settings, flags, io, scan === true ? [] : scan, redis?.stored ?? null);
    const found = [
      credential.problem,
      mirrorFiles.problem,
      ...checked,
      ...notConnected,
      ...(accounts?.value ?? []),
      accounts?.problem,
      redis?.diagnosis,
      ...scanned,
    ].filter((diagnosis) => diagnosis != null);
    return {
      settings: [
        ...settingRows(settings),
        mirrorRow(settings, mirrorFiles.value ?? []),
        credentialRow(credential, settings),
      ],
      // A credential's problem is found twice: when it is used, and when it is searched for.
      diagnoses: [...new Map(found.map((diagnosis) => [diagnosis.message, diagnosis])).values()],
    };
  } finally {
    redis?.end();
  }
}

function toJsonText({ settings, diagnoses }: Examined): string {
  const shown = settings.map(([name, value, from]) => ({ name, value, from }));
  return toJsonLine({ version: version(), node: process.versions.node, settings: shown, checks: diagnoses });
}

const noService: Diagnosis = {
  isOk: true,
  message: "The service was not checked: no base URL is set",
  hint: "Give --base-url URL or ARMOIRE_BASE_URL. `armoire sync` needs it, too.",
};

async function scanFolders(
  settings: Settings,
  flags: PassphraseFlags,
  io: Io,
  folders: readonly string[],
  otherItems: AsyncIterable<SearchedItem> | null,
): Promise<Diagnosis[]> {
  const { secrets, problems, ...opening } = await readKnownSecrets(settings, flags, io);
  const dataDir = settings.dataDir.value;
  const present = existsSync(dataDir) ? [dataDir] : [];
  return [
    ...problems,
    ...(await diagnoseSecrets([...present, ...folders], secrets, { ...opening, otherItems })),
  ];
}

function settingRows({ dataDir, baseUrl, serviceName }: Settings): (string | null)[][] {
  return Object.entries({ dataDir, baseUrl, serviceName }).map(([name, { value, from }]) => [
    name,
    value,
    from,
  ]);
}

/** Without --mirror, the file that commands use. @param files the mirrors that match the settings */
function mirrorRow({ mirror, baseUrl }: Settings, files: readonly string[]): (string | null)[] {
  const [only = null] = files.length === 1 ? files : [];
  if (mirror.value !== null || only === null) return ["mirror", mirror.value, mirror.from];
  return ["mirror", only, baseUrl.value === null ? "the only mirror" : "base URL"];
}

function credentialRow({ value, problem }: Attempt<Credential | null>, { account }: Settings): string[] {
  const from = account === null ? "environment" : `account ${account.name}`;
  if (problem !== null) return ["credential", "unusable", from];
  if (value?.kind === "token") return ["credential", "user token", from];
  return value === null
    ? ["credential", "none", "not set"]
    : ["credential", "application key", "environment"];
}

interface Attempt<Value> {
  /** Null when there was a problem. */
  readonly value: Value | null;
  readonly problem: Diagnosis | null;
}

/** Turns an error into a diagnosis: the doctor continues where other commands fail. */
async function attempt<Value>(read: () => Value | Promise<Value>): Promise<Attempt<Value>> {
  try {
    return { value: await read(), problem: null };
  } catch (error) {
    return { value: null, problem: diagnoseError(error) };
  }
}
