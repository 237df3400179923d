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
