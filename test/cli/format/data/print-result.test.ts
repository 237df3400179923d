import { expect, it } from "vitest";
import { toJson } from "../../../../exports/formats/json.ts";
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

it("answers say what a text is, and a lone surrogate in it is an escape as text", async () => {
  const body = '{"name":"\\ud83d\\ude00 \\\\ud800 \\u0000"}';
  const cells = [body, "C:\\udeaf", "a \ud800\\\udc00"];
  const shown = [body, "C:\\udeaf", "a \\ud800\\\\udc00"];
  const answer = async (format: ResultFormat) => {
    const io = fakeIo();
    await printRows(
      ["cell"],
      cells.map((cell) => [cell]),
      format,
      "exact",
      io,
    );
    return io.written.out;
  };
  expect(JSON.parse(await answer("json"))).toEqual(shown.map((cell) => ({ cell })));
  expect(
    (await answer("ndjson"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).cell),
  ).toEqual(shown);
  expect(await answer("csv")).toBe(
    `cell\n${shown.map((cell) => (/"/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join("\n")}\n`,
  );
  expect(JSON.parse(toJson({ cells, "\udfff": { "\\\udfff": 2n } }))).toEqual({
    cells: shown,
    "\\udfff": { "\\\\udfff": 2 },
  });
});
