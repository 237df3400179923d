import { existsSync } from "node:fs";
import { type AccountUser, readAccountUser } from "../mirror/account-user.ts";
import { readMirror } from "../mirror/mirror-reader.ts";

/** Whose data a mirror holds. */
export interface MirroredUser {
  readonly baseUrl: string;
  /** Null where no sync has got that far. */
  readonly user: AccountUser | null;
}

/** @returns null where there is no mirror. @throws MirrorError */
export function readMirroredUser(mirrorFile: string): MirroredUser | null {
  if (!existsSync(mirrorFile)) return null;
  return readMirror(mirrorFile, ({ db, identity }) => ({
    baseUrl: identity.baseUrl,
    user: readAccountUser(db),
  }));
}
