/** Parsers of option values, for commander. Their errors state the expected form. */
import { InvalidArgumentError, Option } from "commander";
import { parseFingerprint } from "../../archive/signatures/signing-key.ts";
import { CliError } from "../terminal/exit-codes.ts";

export function wholeNumber(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(value);
}

/** 0 picks a free port. */
export function portNumber(value: string): number {
  const port = wholeNumber(value);
  if (port > 65_535) throw new InvalidArgumentError("It must be from 0 to 65535.");
  return port;
}

export function concurrencyNumber(value: string): number {
  const number = wholeNumber(value);
  if (number < 1 || number > 256) throw new InvalidArgumentError("It must be from 1 to 256.");
  return number;
}

export function positiveNumber(value: string): number {
  const number = wholeNumber(value);
  if (number === 0) throw new InvalidArgumentError("It must be at least 1.");
  return number;
}

const unitMillis: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** As `durationMillis`, and also seconds, such as `5s`. */
export function shortDurationMillis(value: string): number {
  const [, seconds] = value.match(/^(\d{1,6})s$/) ?? [];
  if (seconds !== undefined) return Number(seconds) * 1000;
  try {
    return durationMillis(value);
  } catch {
    throw new InvalidArgumentError("It must be a duration such as 5s, 90m, 2h, 3d or 4w.");
  }
}

/** A whole number of minutes, hours, days or weeks, such as `90m`, `2h`, `3d` or `4w`, in milliseconds. */
export function durationMillis(value: string): number {
  const [, count, unit = ""] = value.match(/^(\d{1,6})([mhdw])$/) ?? [];
  const millis = Number(count) * (unitMillis[unit] ?? Number.NaN);
  if (Number.isNaN(millis))
    throw new InvalidArgumentError("It must be a duration such as 90m, 2h, 3d or 4w.");
  return millis;
}

/** For names without commas: several at once. */
export function collectNames(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, ...value.split(",").map((name) => name.trim())];
}

export function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}

export const rootHashOption = () =>
  new Option("--root-hash <hash>", "the expected root hash: 64 hexadecimal digits").argParser(parseRootHash);

export const keyOption = () =>
  new Option(
    "--key <fingerprint>",
    "the key that must have signed it: the 12 words of its fingerprint",
  ).argParser((value) => {
    const fingerprint = parseFingerprint(value);
    if (fingerprint !== null) return fingerprint;
    throw new InvalidArgumentError(
      "It must be 12 words with hyphens, as `armoire snapshot key` prints them.",
    );
  });

/** Of several files, in their order. */
export const collectRootHashes = (value: string, earlier: readonly string[]): readonly string[] =>
  collect(parseRootHash(value), earlier);

function parseRootHash(value: string): string {
  if (/^[0-9a-f]{64}$/i.test(value)) return value.toLowerCase();
  // Not an InvalidArgumentError: commander quotes the value, which may be a misplaced secret.
  throw new CliError(
    "usage",
    `--root-hash has ${value.length} characters instead of 64 hexadecimal digits.`,
    "Copy the whole root hash.",
  );
}
