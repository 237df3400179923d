/** The operating system's store for secrets of the user. */
export interface Keychain {
  /** @returns null if there is no such entry. @throws KeychainError */
  get(entry: string): Promise<string | null>;
  /** @throws KeychainError */
  set(entry: string, secret: string): Promise<void>;
  /** No error if there is no such entry. @throws KeychainError */
  delete(entry: string): Promise<void>;
}

/** There is no keychain, or it failed. The message never contains a secret. */
export class KeychainError extends Error {
  override readonly name = "KeychainError";
}

/** The messages between this process and the keychain process. */
export type KeychainRequest =
  | { readonly do: "get" | "delete"; readonly entry: string }
  | { readonly do: "set"; readonly entry: string; readonly secret: string };

export type KeychainResponse =
  /** The result of `get`; else null. */
  { readonly secret: string | null } | { readonly problem: string };
