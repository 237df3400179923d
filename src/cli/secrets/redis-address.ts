/** The address of Redis. An address with a password is read like a secret, never from the command line. */
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import { readSecret } from "./credentials.ts";

export interface RedisFlags {
  readonly redis?: string;
}

export const redisOption = [
  "--redis <url>",
  "send requests through workers at this Redis (ARMOIRE_REDIS_URL)",
] as const;

/** @returns null without an address @throws CliError */
export function readRedisAddress({ redis }: RedisFlags, io: Io): string | null {
  if (redis === undefined) {
    const address = readSecret(io, "ARMOIRE_REDIS_URL");
    return address === null ? null : withPassword(address, io);
  }
  const url = URL.canParse(redis) ? new URL(redis) : null;
  if (url !== null && (url.password !== "" || url.searchParams.has("password"))) {
    throw new CliError(
      "usage",
      "--redis contains a password, which other users can read on the command line.",
      "Put the address into ARMOIRE_REDIS_URL, or into a file that ARMOIRE_REDIS_URL_FILE names.",
    );
  }
  return withPassword(redis, io);
}

/** @returns the address with the password of ARMOIRE_REDIS_PASSWORD, if that is set @throws CliError */
function withPassword(address: string, io: Io): string {
  const password = readSecret(io, "ARMOIRE_REDIS_PASSWORD") ?? "";
  if (password === "") return address;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || url.host === "" || url.password !== "")
    throw new CliError(
      "usage",
      "ARMOIRE_REDIS_PASSWORD is set, and the address of Redis has a password already, or can have none.",
      "Leave out one of the two.",
    );
  // The setter leaves a percent sign as it is.
  url.password = encodeURIComponent(password);
  return url.href;
}

/** Whether jobs are to be followed with OpenTelemetry. */
export const readTelemetry = ({ env }: Io): boolean => env.ARMOIRE_TELEMETRY === "1";

/** @returns the password in the environment's address; null without one @throws CliError */
export function readRedisPassword(io: Io): string | null {
  const address = readRedisAddress({}, io);
  return address === null ? null : passwordOf(address);
}

/** @returns the password of an address, and as the address spells it; none without one */
export function passwordsOf(address: string): readonly string[] {
  const password = passwordOf(address);
  return password === null ? [] : [password, new URL(address).password];
}

/** @returns the decoded password; null if the address has none */
export function passwordOf(address: string): string | null {
  const password = URL.canParse(address) ? new URL(address).password : "";
  if (password === "") return null;
  try {
    return decodeURIComponent(password);
  } catch {
    // An unescaped percent sign.
    return password;
  }
}
