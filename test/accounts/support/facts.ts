/** What tests store about accounts. Processes that are killed load this file and little else. */
import { randomUUID } from "node:crypto";
import type { AccountFacts } from "../../../src/accounts/account-file.ts";
import type { Keychain } from "../../../src/accounts/tokens/keychain.ts";
import { brokenKeychain } from "./memory-keychain.ts";

export const someTime = "2026-01-15T12:00:00.000Z";

export const noKeychain: Keychain = brokenKeychain("there is none");

export function factsOf(name: string, userId = 1000): Omit<AccountFacts, "tokenIn" | "mayBeInKeychain"> {
  return {
    ...{ name, baseUrl: "https://api.example/", serviceName: "service", userId, username: "Zoë" },
    ...{ addedAt: someTime, tokenAt: someTime, keychainEntry: `${name} ${randomUUID()}` },
    scopes: ["profile", "bras"],
    unknownScopes: [],
  };
}
