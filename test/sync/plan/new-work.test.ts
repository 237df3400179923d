import { expect, it } from "vitest";
import { prepareNewWork } from "../../../src/sync/plan/new-work.ts";
import { startRig } from "../support/rig.ts";
import { dayMillis } from "../support/sync-until-complete.ts";

const scope = { kinds: ["root", "brands", "brand", "models", "model", "sizes", "size"], belowIds: null };

it("sizes of the most owned models are planned first, each list before its items", async () => {
  await using rig = await startRig({ brands: 3, models: 12, sizes: 60, pageSize: 5 });
  await rig.sync({ depth: "models" });
  for (let complete = false; !complete; ) {
    const { planned, due } = rig.read(({ db }) => {
      const scope = {
        kinds: ["root", "brands", "brand", "models", "model", "sizes", "size"],
        belowIds: null,
      };
      return {
        planned: prepareNewWork(db, scope, "value")(1_000, () => false).map(({ url }) => url),
        due: db
          .prepare<[], string>(
            `select r.url from _resource r join _resource o on o.id = r.owner_id
             join _model m on m.id = iif(r.kind = 'sizes', o.id, o.owner_id)
             where r.state = 'due' order by m.bra_count desc, m.id, r.kind = 'size', r.id`,
          )
          .pluck()
          .all(),
      };
    });
    expect(planned).toEqual(due);
    ({ complete } = await rig.sync({ budget: 7 }));
    rig.sandbox.moveClock({ advanceSeconds: dayMillis / 1000 + 1 });
  }
});

it("a plan taken in small parts equals a plan taken at once", async () => {
  await using rig = await startRig({ brands: 2, models: 8, sizes: 30, pageSize: 5 });
  await rig.sync({ depth: "models" });
  await rig.sync({ budget: 4 });
  rig.read(({ db }) => {
    const atOnce = prepareNewWork(db, scope, "value")(1_000, () => false);
    const take = prepareNewWork(db, scope, "value");
    const taken = new Set<number>();
    for (let more = true; more; ) {
      const part = take(3, (id) => taken.has(id));
      for (const { id } of part) taken.add(id);
      more = part.length > 0;
    }
    expect(atOnce.length).toBeGreaterThan(6);
    expect([...taken]).toEqual(atOnce.map(({ id }) => id));
  });
});
