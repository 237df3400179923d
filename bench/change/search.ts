/** Searches of several types in one mirror, each with many texts. */
import { openMirrorReader } from "../../src/mirror/reader.ts";
import { search } from "../../src/query/search.ts";
import { median, percentile } from "../median.ts";
import { type BenchmarkResult, formatCount } from "../results.ts";

const maxMillis = 20;
const textsPerType = 300;

/** @param runs number of runs of the mirror */
export function benchSearch(file: string, runs: number): BenchmarkResult {
  const mirror = openMirrorReader(file);
  const names = mirror.db
    .prepare<[], string>(
      `select name from (select name, href from model union all select name, href from brand)
       where name is not null order by substr(href, -7), href limit ${textsPerType}`,
    )
    .pluck()
    .all()
    .map(String);
  const codes = mirror.db
    .prepare<[], string>(
      `select code from model where code is not null order by substr(href, -7) limit ${textsPerType}`,
    )
    .pluck()
    .all()
    .map(String);
  const firstWords = names.map((name) => name.split(/\s+/)[0] ?? name);
  const types: readonly (readonly [string, readonly string[]])[] = [
    ["a full name", names],
    ["its first word", firstWords],
    [
      "the first word and a letter",
      names.map((name) => name.split(/\s+/).slice(0, 2).join(" ").slice(0, -1)),
    ],
    ["three letters", firstWords.map((word) => [...word].slice(0, 3).join(""))],
    ["two letters", firstWords.map((word) => [...word].slice(0, 2).join(""))],
    ["a code", codes],
  ];
  search(mirror, "warm");
  const timed = types.map(([name, texts]) => ({
    name,
    times: texts.map((text) => timeMillis(() => search(mirror, text))),
  }));
  mirror.close();
  const twoLetters = types.find(([name]) => name === "two letters")?.[1] ?? [];
  const past = [1, Math.ceil(runs / 2), runs].flatMap((run) => timeAsOf(file, run, twoLetters));
  const all = timed.flatMap(({ times }) => times);
  const row = (name: string, times: readonly number[]) => [
    name,
    formatCount(times.length),
    median(times).toFixed(1),
    percentile(times, 0.99).toFixed(1),
  ];
  return {
    title: "Search",
    headings: ["search for", "searches", "p50 ms", "p99 ms"],
    rows: [
      ...timed.map(({ name, times }) => row(name, times)),
      row("all of these", all),
      row("two letters, as of a run", past),
    ],
    targets: [
      {
        target: `search: p99 ≤ ${maxMillis} ms`,
        measured: `${percentile(all, 0.99).toFixed(1)} ms`,
        isMet: percentile(all, 0.99) <= maxMillis,
      },
    ],
  };
}

function timeAsOf(file: string, run: number, texts: readonly string[]): number[] {
  const mirror = openMirrorReader(file, { kind: "run", run });
  search(mirror, "warm");
  const times = texts.map((text) => timeMillis(() => search(mirror, text)));
  mirror.close();
  return times;
}

function timeMillis(work: () => unknown): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}
