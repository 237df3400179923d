/** The connection of pages, which prepares each statement once. */
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Connection } from "../../src/mirror/file/connection.ts";
import { keepStatements } from "../../src/web/mirrors/kept-statements.ts";

const text = "select value as n from json_each(:all)";
let native: Connection;
let kept: Connection;
let prepared: string[];
beforeEach(() => {
  native = new Database(":memory:");
  prepared = [];
  const { prepare } = native;
  native.prepare = ((sql: string) => {
    prepared.push(sql);
    return prepare.call(native, sql);
  }) as Connection["prepare"];
  kept = keepStatements(native);
});
afterEach(() => native.close());

it("a text is prepared once, however often and in whatever order it is executed", () => {
  for (const n of [1, 2, 3]) {
    expect(kept.prepare(text).all({ all: `[${n}]` })).toEqual([{ n }]);
    expect([...kept.prepare("select 1 as one").iterate()]).toEqual([{ one: 1 }]);
  }
  expect(prepared).toEqual([text, "select 1 as one"]);
});

it("callers that want other rows of the same text do not change each other's", () => {
  const all = { all: "[1,2]" };
  const rows = kept.prepare(text);
  expect(rows.get(all)).toEqual({ n: 1 });
  const values = kept.prepare(text).pluck();
  const exact = kept.prepare(text).raw().safeIntegers();
  expect(values.all(all)).toEqual([1, 2]);
  expect(exact.all(all)).toEqual([[1n], [2n]]);
  expect(rows.all(all)).toEqual([{ n: 1 }, { n: 2 }]);
});

it("a statement is executed while another caller reads the rows of the same text", () => {
  const all = { all: "[1,2]" };
  const first = kept.prepare(text).iterate(all);
  expect(first.next().value).toEqual({ n: 1 });
  expect([...kept.prepare(text).iterate({ all: "[3]" })]).toEqual([{ n: 3 }]);
  expect(kept.prepare(text).get({ all: "[4]" })).toEqual({ n: 4 });
  expect([...first]).toEqual([{ n: 2 }]);
});

it("what else a connection has is that of the connection", () => {
  expect(kept.inTransaction).toBe(false);
  kept.exec("begin");
  expect([kept.inTransaction, native.inTransaction]).toEqual([true, true]);
  expect(kept.pragma("user_version", { simple: true })).toBe(0);
});

it("an error of a text is thrown when it is executed, each time", () => {
  for (const _ of [1, 2])
    expect(() => kept.prepare("select missing from sqlite_schema").get()).toThrow("no such column");
});
