import { expect, it } from "vitest";
import { DurationHistogram } from "../../../jobs/metrics/duration-histogram.ts";

it("buckets are cumulative, and begin at zero", () => {
  const durations = new DurationHistogram();
  const read = () =>
    Object.fromEntries(
      durations.samples({ principal: "ada" }).map(({ suffix, labels, value }) => {
        const { le = "" } = labels as { le?: string };
        return [`${suffix}${le}`, value];
      }),
    );
  expect(read()).toMatchObject({ _count: 0, _sum: 0, "_bucket+Inf": 0 });
  for (const seconds of [0.05, 0.3, 0.3, 45]) durations.observe(seconds);
  expect(read()).toEqual({
    ...{ "_bucket0.05": 1, "_bucket0.1": 1, "_bucket0.25": 1, "_bucket0.5": 3, _bucket1: 3, "_bucket2.5": 3 },
    ...{ _bucket5: 3, _bucket10: 3, _bucket30: 3, "_bucket+Inf": 4, _sum: 45.65, _count: 4 },
  });
});
