/** Where the operating system keeps secrets for its user: what we need of it, and how it fails. */
export interface Keychain {
  /** @returns null where it has none of that name. @throws KeychainError */
  get(entry: string): Promise<string | null>;
  /** @throws KeychainError */
  set(entry: string, secret: string): Promise<void>;
  /** Well also where there is none of that name. @throws KeychainError */
  delete(entry: string): Promise<void>;
}

/** There is no keychain, or it does not do what it is asked; its message says why, never what. */
export class KeychainError extends Error {
  override readonly name = "KeychainError";
}

/** What is said between us and the process that asks the system's keychain. */
export type KeychainRequest =
  | { readonly do: "get" | "delete"; readonly entry: string }
  | { readonly do: "set"; readonly entry: string; readonly secret: string };

export type KeychainAnswer =
  /** Of `get`, what it has; else null. */
  { readonly secret: string | null } | { readonly problem: string };
