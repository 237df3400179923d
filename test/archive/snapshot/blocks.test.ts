/** Blocks that a thread makes of stored bodies. */
import { expect, it, onTestFinished } from "vitest";
import { makeBlocksHere, startBlockThread } from "../../../src/archive/snapshot/blocks/blocks-client.ts";
import { deflateBody } from "../../../src/mirror/bodies/compression.ts";
import { sha256Of } from "../../mirror/support/world.ts";

const dictionary = Buffer.from('{"rel":"size","href":"https://catalogue.example/sizes/"}');
const bodies = ["{}", '{"rel":"size","href":"https://catalogue.example/sizes/é"}', "x".repeat(2 ** 20), "[]"];

/** As `recordSql` describes it. */
function recordOf(body: string, number: number): string {
  const isDeflated = body.includes("rel");
  const stored = isDeflated ? deflateBody(Buffer.from(body), dictionary) : Buffer.from(body);
  const size = Buffer.byteLength(body);
  const hex = stored.toString("hex");
  const head = [number, isDeflated ? "deflate" : "identity", size, isDeflated ? 3 : "", hex.length];
  return `${head.join(" ")} ${hex}{"url":"é ${number}","sha256":"${sha256Of(body)}`;
}

const recordsOf = (lines: readonly string[], count = lines.length) => ({
  count,
  lines: new TextEncoder().encode(lines.join("\n")),
});

const dictionaries = new Map([[3, dictionary]]);

it.each([
  ["a thread", startBlockThread],
  ["the calling thread", makeBlocksHere],
])("%s makes blocks in the order of the numbers, whatever the order of the records", async (_, start) => {
  const thread = start(dictionaries);
  onTestFinished(() => thread.close());
  const records = bodies.map(recordOf);
  const blocks = [
    ...(await thread.add(recordsOf(records.slice(0, 3).reverse()))),
    ...(await thread.add(recordsOf(records.slice(3)))),
    ...(await thread.add(null)),
  ];
  const texts = blocks.map(({ content }) => content.toString());
  expect(texts).toEqual([`${bodies.slice(0, 3).join("\n")}\n`, "[]\n"]);
  const lines = blocks.flatMap(({ index }) => index.toString().trimEnd().split("\n"));
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { url: "é 0", sha256: sha256Of("{}"), offset: 0, length: 2 },
    { url: "é 1", sha256: sha256Of(bodies[1] ?? ""), offset: 3, length: 58 },
    { url: "é 2", sha256: sha256Of(bodies[2] ?? ""), offset: 62, length: 2 ** 20 },
    { url: "é 3", sha256: sha256Of("[]"), offset: 0, length: 2 },
  ]);
});

it.each([
  ["another body than its SHA-256 says", () => recordsOf([recordOf("{}", 1).replace(" 7b7d", " 5b5d")])],
  [
    "no dictionary",
    () => recordsOf([recordOf(bodies[1] ?? "", 1).replace("deflate 58 3 ", "deflate 58 4 ")]),
  ],
  ["an unknown codec", () => recordsOf([recordOf("{}", 1).replace("identity", "zstd")])],
  ["a codec with spaces", () => recordsOf([recordOf("{}", 1).replace("identity", "a b -9 -9 -9")])],
  ["no line, since a value is missing", () => recordsOf([recordOf("{}", 1)], 2)],
])("a row with %s is damage, in a thread as in the calling one", async (_, make) => {
  for (const start of [startBlockThread, makeBlocksHere]) {
    const thread = start(dictionaries);
    onTestFinished(() => thread.close());
    await expect(thread.add(make())).rejects.toMatchObject({ name: "DamagedBodyError" });
  }
});
