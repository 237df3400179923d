import { expect, it } from "vitest";
import { printRows, type ResultFormat } from "../../../../src/cli/format/data/result.ts";
import { fakeIo } from "../../support/fake-io.ts";

async function printed(format: ResultFormat, columns: readonly string[]): Promise<string> {
  const io = fakeIo();
  await printRows(columns, [columns.map((_, n) => n)], format, "guarded", io);
  return io.written.out;
}

it("repeated column names get a number in JSON and NDJSON", async () => {
  const names = ["name", "name", "href", "name_2", "name"];
  expect(await printed("ndjson", names)).toBe('{"name":0,"name_3":1,"href":2,"name_2":3,"name_4":4}\n');
  expect(JSON.parse(await printed("json", names))).toEqual([
    { name: 0, name_3: 1, href: 2, name_2: 3, name_4: 4 },
  ]);
  expect(await printed("csv", names)).toMatch(/^name,name,href,name_2,name\n/);
  expect(await printed("table", names)).toMatch(/^name +name +href +name_2 +name\n/);
});
