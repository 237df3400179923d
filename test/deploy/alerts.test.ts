/** The alert rules and the dashboard in deploy/: checked by Prometheus' own tool, and against the metrics of the program. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { toMetrics } from "../../jobs/bullmq/dashboard/metrics.ts";
import { readProcessMetrics } from "../../jobs/metrics/process-metrics.ts";
import { toScheduleMetrics } from "../../src/metrics/schedule-metrics.ts";
import { requirePromtool } from "../support/require-promtool.ts";

const root = join(import.meta.dirname, "../..");
const rulesFile = join(root, "deploy/prometheus/alerts.yml");
const caseFiles = ["alerts-of-minutes.test.yml", "alerts-of-days.test.yml"];
const readText = (path: string) => readFileSync(join(root, path), "utf8");

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}
const alerts = (parse(readText("deploy/prometheus/alerts.yml")) as Rules).groups.flatMap(
  ({ rules }) => rules,
);

/** Every metric that the program gives, as it is stored. */
const known = new Set(
  [
    ...toMetrics({ requests: [], durations: new Map(), acceptsJobs: {} }, null, 0),
    ...toScheduleMetrics([], 0),
    ...readProcessMetrics(),
  ].flatMap(({ name, type }) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ),
);

const namesIn = (expression: string): string[] => expression.match(/\b(?:armoire|process)_\w+/g) ?? [];

it("every alert fires when it should, and none on a healthy day", { timeout: 120_000 }, () => {
  const promtool = requirePromtool();
  for (const args of [
    ["check", "rules", rulesFile],
    ["test", "rules", ...caseFiles.map((name) => join(import.meta.dirname, name))],
  ]) {
    const { status, stdout, stderr } = spawnSync(promtool, args, { encoding: "utf8" });
    expect({ status, output: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, output: "" });
  }
});

it("every alert has a case in which it fires", () => {
  const cases = caseFiles.map((name) => readText(`test/deploy/${name}`)).join("");
  const fired = alerts.filter(({ alert }) =>
    new RegExp(`alertname: ${alert}\\s+exp_alerts:\\s+- exp_labels`).test(cases),
  );
  expect(fired).toEqual(alerts);
});

it.each(["deploy/prometheus/alerts.yml", "deploy/grafana/armoire.json"])(
  "%s names only metrics that exist",
  (path) => {
    const names = namesIn(readText(path));
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  },
);

it("metrics follow the naming of Prometheus: base units, and _total for counters", () => {
  const metrics = [
    ...toMetrics({ requests: [], durations: new Map(), acceptsJobs: {} }, null, 0),
    ...toScheduleMetrics([], 0),
    ...readProcessMetrics(),
  ];
  const odd = metrics.filter(
    ({ name, type, help }) =>
      !/^(armoire|process)_[a-z_]+$/.test(name) ||
      (type === "counter") !== name.endsWith("_total") ||
      /_(millis|ms|minutes|hours|kb|mb)\b/.test(name) ||
      !/\.$/.test(help),
  );
  expect(odd).toEqual([]);
  expect(new Set(metrics.map(({ name }) => name)).size).toBe(metrics.length);
});
