/** Which Redis the workers are at. Its password, where it has one, is read as secrets are: never from the command line. */
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import { readSecret } from "./credentials.ts";

export interface RedisFlags {
  readonly redis?: string;
}

export const redisOption = [
  "--redis <url>",
  "the Redis that the workers are at (ARMOIRE_REDIS_URL)",
] as const;

/** @returns null where none is set @throws CliError */
export function readRedisAddress({ redis }: RedisFlags, io: Io): string | null {
  if (redis === undefined) return readSecret(io, "ARMOIRE_REDIS_URL");
  const url = URL.canParse(redis) ? new URL(redis) : null;
  if (url !== null && url.password !== "") {
    throw new CliError(
      "usage",
      "--redis has a password in it, which others can read on the command line.",
      "Put the address into ARMOIRE_REDIS_URL, or into the file that ARMOIRE_REDIS_URL_FILE names.",
    );
  }
  return redis;
}

/** Of the Redis that the environment names; null where it has none. @throws CliError */
export function readRedisPassword(io: Io): string | null {
  const address = readRedisAddress({}, io);
  return address === null ? null : passwordOf(address);
}

/** As Redis is told it; null where the address has none. */
export function passwordOf(address: string): string | null {
  const password = URL.canParse(address) ? new URL(address).password : "";
  if (password === "") return null;
  try {
    return decodeURIComponent(password);
  } catch {
    // A percent sign that stands for itself.
    return password;
  }
}
