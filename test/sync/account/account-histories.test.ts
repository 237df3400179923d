/** Random histories of an account at the service: its mirror loses no bra that it ever held. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { checkMirror } from "../../../src/mirror/check/check.ts";
import type { UserEdit } from "../../../src/sandbox/accounts/users.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { SyncError } from "../../../src/sync/errors.ts";
import { type Rig, startRig } from "../support/rig.ts";

const edits = fc.record<UserEdit>(
  {
    isRevoked: fc.boolean(),
    scopes: fc
      .subarray(["email", "bras", "measurements"] as const)
      .map((more) => ["identity", ...more] as const)
      .map((all) => [...all]),
    bras: fc.nat({ max: 6 }),
    measurements: fc.nat({ max: 3 }),
    note: fc.constantFrom("", "worn out", "=1+1"),
  },
  { requiredKeys: [] },
);

interface Bras {
  readonly rows: number;
  readonly present: number;
}

const brasIn = (rig: Rig): Bras =>
  rig.read(({ db }) => {
    const counts = db
      .prepare<[], Bras>("select count(*) as rows, total(gone_at is null) as present from bra")
      .get();
    return counts ?? { rows: 0, present: 0 };
  });

it("an account mirror keeps every bra it ever held, and shows as present those of the last successful run", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(edits, { minLength: 1, maxLength: 6 }), async (history) => {
      await using rig = await startRig();
      const credential = bearerToken(rig.sandbox.users[0]?.token ?? "");
      const now: { -readonly [Name in keyof UserEdit]: UserEdit[Name] } = {
        scopes: ["identity", "bras"],
        bras: 4,
      };
      rig.sandbox.editUser("anna", now);
      await rig.sync({ area: "account", credential });
      let expected: Bras = { rows: 4, present: 4 };
      for (const edit of history) {
        Object.assign(now, edit);
        rig.sandbox.editUser("anna", edit);
        const run = rig.sync({ area: "account", credential, approve: true });
        if (now.isRevoked) await expect(run).rejects.toBeInstanceOf(SyncError);
        else {
          expect(await run).toMatchObject({ complete: true, resources: { failed: 0 } });
          const { bras = 0, scopes = [] } = now;
          if (scopes.includes("bras")) expected = { rows: Math.max(expected.rows, bras), present: bras };
        }
        expect(brasIn(rig)).toEqual(expected);
      }
      expect(rig.read((mirror) => checkMirror(mirror, kinds).problems)).toEqual([]);
    }),
    { numRuns: 5 },
  );
});
