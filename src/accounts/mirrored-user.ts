import { existsSync } from "node:fs";
import { openMirrorReader } from "../mirror/mirror.ts";

/** Whose data a mirror holds. */
export interface MirroredUser {
  readonly baseUrl: string;
  /** Null where no sync has got that far. */
  readonly userId: number | null;
}

/** @returns null where there is no mirror. @throws MirrorError */
export function readMirroredUser(mirrorFile: string): MirroredUser | null {
  if (!existsSync(mirrorFile)) return null;
  const { db, identity, close } = openMirrorReader(mirrorFile);
  try {
    const userId = db.prepare<[], unknown>("select user_id from user").pluck().get();
    return { baseUrl: identity.baseUrl, userId: typeof userId === "number" ? userId : null };
  } finally {
    close();
  }
}
