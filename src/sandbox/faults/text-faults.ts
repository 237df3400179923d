/** Faults of the body's text: no JSON, more than one, no UTF-8, or JSON that careless programs read wrongly. */
import type { TextFault } from "./fault.ts";

export const textFaults = {
  /** Any text at all in place of the body. */
  text: (_text, { parameters }) => String(parameters.value ?? ""),
  "empty-body": () => "",
  "json-null": () => "null",
  "json-array": (text) => `[${text}]`,
  "json-string": (text) => JSON.stringify(text),
  "not-json": (text) => text.slice(0, -1).replaceAll('"', "'"),
  "two-documents": (text) => `${text}\n${text}`,
  "trailing-garbage": (text) => `${text}<!-- cached -->`,
  "byte-order-mark": (text) => `\uFEFF${text}`,
  "invalid-utf8": (text) =>
    Buffer.concat([
      Buffer.from(text.slice(0, -1)),
      Buffer.from([0x2c, 0x22, 0xff, 0xfe, 0xc0, 0x22, 0x3a, 0x31, 0x7d]),
    ]),
  "utf-16": (text) => Buffer.from(`\uFEFF${text}`, "utf16le"),
  "big-numbers": (text) =>
    atBody(
      text.replace(/"bra_count":"?\d+"?/, '"bra_count":9007199254740993'),
      '"huge":1e400,"negative_zero":-0,"precise":0.30000000000000004441,',
    ),
  "duplicate-keys": (text) =>
    atBody(`{"self":"https://first.example/",${text.slice(1)}`, '"name":"first","name":"second",'),
  "prototype-keys": (text) =>
    atBody(
      `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},${text.slice(1)}`,
      '"__proto__":{"polluted":true},',
    ),
  /** Deeper than `JSON.stringify` can write. */
  deep: (text, { parameters }) => {
    const depth = parameters.count ?? 5_000;
    return atBody(text, `"deep":${"[".repeat(depth)}${"]".repeat(depth)},`);
  },
} satisfies Record<string, TextFault>;

/** Puts members first into an entity's body, or into the envelope when it is no entity. */
function atBody(text: string, members: string): string {
  return text.includes('"body":{"')
    ? text.replace('"body":{', () => `"body":{${members}`)
    : `{${members}${text.slice(1)}`;
}
