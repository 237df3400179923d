/** Identifies the client of a request: anonymous, an application or a user. */
import { Random, streams } from "../random.ts";
import type { SandboxUser } from "./users.ts";

export interface SandboxApp {
  readonly key: string;
  readonly secret: string;
}

export interface Credential {
  /** Its name in the log; never the secret. */
  readonly name: "none" | `app:${string}` | `user:${string}`;
  readonly user: SandboxUser | null;
}

export const noCredential: Credential = { name: "none", user: null };

/** Secrets and tokens have a prefix that shows they belong to a sandbox. */
export function createApp(seed: number): SandboxApp {
  return { key: "sandbox-app", secret: `sandbox-secret-${new Random(seed, streams.app).hex(40)}` };
}

/** @returns a function from an `Authorization` header to a credential; unknown ones count as none */
export function createAuthenticator(
  users: readonly SandboxUser[],
  app: SandboxApp,
): (authorization: string | undefined) => Credential {
  const byHeader = new Map<string, Credential>();
  for (const user of users.filter(({ isRevoked }) => !isRevoked))
    byHeader.set(`bearer ${user.token}`, { name: `user:${user.username}`, user });
  byHeader.set(`app ${app.key}:${app.secret}`, { name: `app:${app.key}`, user: null });
  return (authorization) => {
    const [, scheme = "", secret = ""] = /^(\w+) +(\S+)$/.exec(authorization ?? "") ?? [];
    return byHeader.get(`${scheme.toLowerCase()} ${secret}`) ?? noCredential;
  };
}

/**
 * An application may send its key and secret as `app_key` and `app_secret` in the query, which the log and the links do
 * not repeat.
 * @param target path and query
 */
export function readQueryCredential(target: string): { target: string; authorization: string | undefined } {
  const [path = "", ...queries] = target.split("?");
  const members = queries.join("?").split("&");
  const isCredential = (member: string): boolean => /^app_(?:key|secret)=/.test(member);
  if (!members.some(isCredential)) return { target, authorization: undefined };
  const credential = new URLSearchParams(members.filter(isCredential).join("&"));
  const rest = members.filter((member) => !isCredential(member)).join("&");
  return {
    target: rest === "" ? path : `${path}?${rest}`,
    authorization: `app ${credential.get("app_key") ?? ""}:${credential.get("app_secret") ?? ""}`,
  };
}
