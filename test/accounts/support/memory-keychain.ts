/** A working keychain and a broken one. */
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

/** @param why the message of every error */
export function brokenKeychain(why: string): Keychain {
  const fail = () => Promise.reject(new KeychainError(why));
  return { get: fail, set: fail, delete: fail };
}
