import { describe, expect, it } from "vitest";
import { projectMeasurements } from "../../schema/entities/measurement.ts";
import {
  errorMessageOf,
  isNotAuthenticated,
  NotAnEnvelopeError,
  readEnvelopeOrThrow,
} from "../../schema/envelope.ts";
import { api, noMeta, parseGolden } from "./support/golden.ts";

describe("measurements", () => {
  const project = (file: string) =>
    projectMeasurements(readEnvelopeOrThrow(parseGolden(file).value).envelope);

  it("the user's measurements are stored whole if the collection contains them", () => {
    expect(project("measurements")).toEqual({
      row: null,
      lists: [
        {
          table: "measurement",
          rows: [
            ['{"measured_on":"2025-06-01","underbust":64.5,"bust":{"standing":89,"leaning":93.2}}'],
            ['{"measured_on":"2024-06-01","underbust":66,"bust":null}'],
          ],
        },
      ],
      issues: [],
    });
  });

  it("the user's measurements are rows of their own entities if the collection only links to them", () => {
    expect(project("measurements-linked").lists).toEqual([{ table: "measurement", rows: [] }]);
  });

  it("the user's measurements are stored whole from their own entity", () => {
    expect(project("measurement").lists).toEqual([
      { table: "measurement", rows: [['{"measured_on":"2025-06-01","underbust":64.5}']] },
    ]);
  });
});

describe("other bodies", () => {
  it("the root is read as its links and its welcome", () => {
    const { envelope, issues } = readEnvelopeOrThrow(parseGolden("root").value);
    expect(issues).toEqual([]);
    expect({ ...envelope, links: { ...envelope.links } }).toEqual({
      rel: "resource",
      self: `${api}/`,
      spec: "https://docs.example/root",
      links: { me: `${api}/me/`, brands: `${api}/brands/`, rate_limit: `${api}/rate-limit/` },
      meta: { ...noMeta, welcome: "Welcome to the service" },
      body: null,
      items: [],
    });
  });

  it("the body of the rate limit is read although its rel is resource", () => {
    const { envelope, issues } = readEnvelopeOrThrow(parseGolden("rate-limit").value);
    expect(issues).toEqual([]);
    expect(envelope.body).toEqual({ base: { limit: 300, remaining: 287, reset: 1767225600 } });
  });

  it("the response to a missing token is recognized by its body", () => {
    const { value } = parseGolden("not-authenticated");
    expect(isNotAuthenticated(value)).toBe(true);
    expect(errorMessageOf(value)).toBe("Not authenticated");
    expect(() => readEnvelopeOrThrow(value)).toThrow(NotAnEnvelopeError);
  });

  it.each(["root", "brand", "brands", "rate-limit"])("%s.json is not an error body", (file) => {
    const { value } = parseGolden(file);
    expect(isNotAuthenticated(value)).toBe(false);
    expect(errorMessageOf(value)).toBeNull();
  });

  it.each([
    { message: "API rate limit exceeded" },
    { message: "Not authenticated", rel: "entity" },
    { message: 12 },
    { message: ["Not authenticated"] },
    {},
    [],
    null,
    "Not authenticated",
  ])("%j is not the response to a missing token", (value) => {
    expect(isNotAuthenticated(value)).toBe(false);
  });
});
