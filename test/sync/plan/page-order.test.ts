import { expect, it } from "vitest";
import type { Connection } from "../../../src/mirror/file/connection.ts";
import { orderPages } from "../../../src/sync/plan/page-order.ts";
import type { PlannedResource } from "../../../src/sync/plan/request.ts";
import { startRig } from "../support/rig.ts";

it("the pages among planned resources are read by one statement, however many there are", async () => {
  await using rig = await startRig({ brands: 3, models: 12, sizes: 60, pageSize: 5 });
  await rig.sync({});
  rig.read(({ db }) => {
    const planned = db
      .prepare<[], PlannedResource>(
        "select id, url, kind, etag, 'new' as reason, 0 as isFree from _resource where kind = 'size'",
      )
      .all();
    expect(planned.length).toBe(60);
    let executions = 0;
    // Its statements read rows by `get`, `all` and `iterate` alone.
    const counted = new Proxy(db, {
      get(target, name) {
        if (name !== "prepare") return Reflect.get(target, name);
        return (sql: string) =>
          new Proxy(target.prepare(sql), {
            get(statement, method) {
              const value: unknown = Reflect.get(statement, method);
              if (typeof value !== "function") return value;
              return (...args: unknown[]) => {
                if (["get", "all", "iterate"].includes(String(method))) executions++;
                return value.apply(statement, args);
              };
            },
          });
      },
    }) as Connection;
    const allowance = () => ({ isAmple: true, checkPrice: "free" }) as const;
    const ordered = orderPages({ take: () => planned }, counted, {
      runId: 2,
      mode: "incremental",
      allowance,
    });

    expect(ordered.take(1_000, () => false)).toEqual(planned);
    expect(executions).toBe(1);
  });
});
