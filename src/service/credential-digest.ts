import { createHash } from "node:crypto";
import { authorizationOf, type Credential } from "./credential.ts";

/** Tells credentials apart without giving them away: a SHA-256 in hexadecimal digits, or nothing for none. */
export function digestCredential(credential: Credential | null): string {
  return credential === null ? "" : createHash("sha256").update(authorizationOf(credential)).digest("hex");
}
