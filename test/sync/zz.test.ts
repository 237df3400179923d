import { it } from "vitest";
import { startRig } from "./rig.ts";
import { faultNames } from "../../src/sandbox/faults/faults.ts";
const skip = ["not-authenticated","allowance-spent","stall","stall-headers","drip-headers"];
it("all", async () => {
  await using rig = await startRig({ brands: 24, models: 200, sizes: 240, pageSize: 1, paginateSizes: true });
  const names = faultNames.filter((n) => !skip.includes(n));
  rig.sandbox.setFaults([
    ...names.map((fault, n) => ({ kind: "model" as const, positions: [2*n+1], times: "always" as const, fault, millis: 0 })),
    ...["next-self","next-earlier","next-endless","next-beyond","next-missing","wrong-total","drift","null-collection","empty-collection","many-items","items-without-href","relative-hrefs","evil-links","wrong-types","empty-meta","templated-links","null-links","wrong-links"].map((fault, n) => ({kind:"models" as const, positions:[3*n+3], times:"always" as const, fault: fault as any})),
  ]);
  const report = await rig.sync({ concurrency: 1 }).catch(e=>e);
  console.log(report);
  const log = rig.sandbox.log();
  const kindOf = new Map([...rig.sandbox.truth()].map((r) => [r.url, r] as const));
  const seen = new Map(log.filter(l=>l.fault).map(l=>[l.url, l.fault] as const));
  const rows = rig.read(({db}) => [...seen].map(([url, fault]) => {
    const r = db.prepare("select r.state, r.error, r.kind, (select group_concat(code||' '||pointer) from _issue where resource_id = r.id) as issues, c.body from _resource r left join _revision v on v.resource_id = r.id and v.to_run is null left join _content c on c.id = v.content_id where url = ?").get(url) as any;
    const truth = kindOf.get(url);
    return `${fault}: ${r?.kind} ${r?.state} ${r?.body ? (truth && r.body.toString() === JSON.stringify(truth.body) ? "TRUTH" : "other body") : "-"} ${(r?.error??"").slice(0,140)} | ${(r?.issues??"").slice(0,100)}`;
  }));
  console.log(rows.join("\n"));
  rig.sandbox.setFaults([]);
  console.log(await rig.sync());
  const { differencesFromTruth } = await import("./compare-with-truth.ts");
  console.log(differencesFromTruth(rig).map(s=>s.slice(0,600)));
}, 60000);
