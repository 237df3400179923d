/**
 * Drawings of charts, kept while pages show the same chart again: a drawing takes some milliseconds, and needs much memory for
 * a short time. Each is made in a turn of the event loop of its own, so that other requests do not wait for several.
 */
import { setImmediate } from "node:timers/promises";
import type { Chart } from "./chart.ts";

/** Each takes up to 40 kB. */
const maxKept = 50;

/** By chart, as JSON. */
const kept = new Map<string, Promise<string>>();
let last: Promise<unknown> = Promise.resolve();

/** @returns an `svg` element; rejects if the chart cannot be drawn */
export function drawingOf(chart: Chart): Promise<string> {
  const key = JSON.stringify(chart);
  const drawing = kept.get(key) ?? drawNext(chart);
  // The last used one is the last in the map.
  kept.delete(key);
  kept.set(key, drawing);
  const [oldest] = kept.keys();
  if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest);
  drawing.catch(() => kept.delete(key));
  return drawing;
}

function drawNext(chart: Chart): Promise<string> {
  const drawing = last.then(async () => {
    const { drawChart } = await import("./draw.ts");
    await setImmediate();
    return drawChart(chart);
  });
  last = drawing.catch(() => {});
  return drawing;
}
