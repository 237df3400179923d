/** What is said between us and the process that asks the system's keychain. */
export type KeychainRequest =
  | { readonly do: "get" | "delete"; readonly entry: string }
  | { readonly do: "set"; readonly entry: string; readonly secret: string };

export type KeychainAnswer =
  /** Of `get`, what it has; else null. */
  { readonly secret: string | null } | { readonly problem: string };
