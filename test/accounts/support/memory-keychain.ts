/** A keychain that is there, and one that is not. */
import { type Keychain, KeychainError } from "../../../src/accounts/tokens/keychain.ts";

export interface MemoryKeychain extends Keychain {
  readonly secrets: Map<string, string>;
}

export function memoryKeychain(): MemoryKeychain {
  const secrets = new Map<string, string>();
  return {
    secrets,
    get: async (entry) => secrets.get(entry) ?? null,
    set: async (entry, secret) => void secrets.set(entry, secret),
    delete: async (entry) => void secrets.delete(entry),
  };
}

/** @param why what it says, to whatever it is asked */
export function brokenKeychain(why: string): Keychain {
  const fail = () => Promise.reject(new KeychainError(why));
  return { get: fail, set: fail, delete: fail };
}
