import { createHash, createHmac } from "node:crypto";
import { authorizationOf, type Credential } from "./credential.ts";

/** Tells credentials apart without giving them away: a SHA-256 in hexadecimal digits, or nothing for none. */
export function digestCredential(credential: Credential | null): string {
  return credential === null ? "" : createHash("sha256").update(authorizationOf(credential)).digest("hex");
}

/** Tells another holder of the same credential that one has it: an HMAC-SHA-256 about `subject`, in hexadecimal digits. */
export function proveCredential(credential: Credential | null, subject: string): string {
  const key = credential === null ? "" : authorizationOf(credential);
  return createHmac("sha256", key).update(subject).digest("hex");
}
