/** What becomes of a user while a sandbox runs: scopes and token taken away, bras and measurements deleted and brought back. */
import { z } from "zod";
import { type SandboxUser, scopes } from "./users.ts";

const count = z.int().min(0).max(100_000);

export const userEdit = z
  .strictObject({
    /** Whether her token counts as none. */
    isRevoked: z.boolean(),
    scopes: z.array(z.enum(scopes)),
    /** She has only the first so many of the bras, or measurements, that she began with. */
    bras: count,
    measurements: count,
    /** What her first bra has for a note. */
    note: z.string(),
  })
  .partial();

export type UserEdit = z.input<typeof userEdit>;

/** Users by their names; each as edited last. */
export interface UserBook {
  readonly current: () => readonly SandboxUser[];
  /** @throws RangeError when nobody is called so */
  readonly edit: (username: string, edit: UserEdit) => void;
}

export function createUserBook(users: readonly SandboxUser[]): UserBook {
  const edits = new Map<string, UserEdit>();
  return {
    current: () => users.map((user) => edited(user, edits.get(user.username) ?? {})),
    edit(username, edit) {
      if (users.every((user) => user.username !== username))
        throw new RangeError(`There is no user ${username}`);
      edits.set(username, { ...edits.get(username), ...edit });
    },
  };
}

function edited(user: SandboxUser, { isRevoked, scopes, bras, measurements, note }: UserEdit): SandboxUser {
  return {
    ...user,
    isRevoked: isRevoked ?? user.isRevoked,
    scopes: scopes ?? user.scopes,
    bras: user.bras
      .slice(0, bras)
      .map((bra, index) => (index === 0 && note !== undefined ? { ...bra, note } : bra)),
    measurements: user.measurements.slice(0, measurements),
  };
}
