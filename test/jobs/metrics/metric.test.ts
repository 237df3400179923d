import fc from "fast-check";
import { expect, it } from "vitest";
import { toPrometheusText } from "../../../jobs/metrics/metric.ts";

it("metrics are written with their help and type, and omitted without samples", () => {
  const text = toPrometheusText([
    {
      ...{ name: "armoire_allowance_remaining", type: "gauge", help: "Requests left." },
      samples: [
        { labels: { principal: "catalogue", mirror: "m" }, value: 12 },
        { labels: {}, value: 0.5 },
      ],
    },
    { name: "armoire_nothing", type: "counter", help: "Nothing.", samples: [] },
  ]);
  expect(text).toBe(
    [
      "# HELP armoire_allowance_remaining Requests left.",
      "# TYPE armoire_allowance_remaining gauge",
      'armoire_allowance_remaining{principal="catalogue",mirror="m"} 12',
      "armoire_allowance_remaining 0.5",
      "",
    ].join("\n"),
  );
});

it("any label value stays on its line and can be parsed back", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", '"', "\\", "\n", "n", "}") }), (label) => {
      const samples = [{ labels: { label }, value: 1 }];
      const text = toPrometheusText([{ name: "m", type: "gauge", help: "", samples }]);
      const [, , line = "", ...rest] = text.split("\n");
      expect(rest).toEqual([""]);
      const [, written = ""] = /^m\{label="((?:[^"\\]|\\.)*)"\} 1$/.exec(line) ?? [];
      expect(written.replace(/\\(.)/g, (_, letter) => (letter === "n" ? "\n" : letter))).toBe(label);
    }),
  );
});
