import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isAccountName,
  looksLikeToken,
  requireAccountName,
  requireNewAccountName,
} from "../../src/accounts/account-name.ts";
import { AccountError } from "../../src/accounts/errors.ts";

function refusalOf(name: string): AccountError {
  try {
    requireAccountName(name);
  } catch (error) {
    if (error instanceof AccountError) return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(name)} was let through`);
}

describe("validation", () => {
  it.each(["a", "ada", "0", "ada-2", "ada_lovelace", "com", "com10", "nulla", "a".repeat(32)])(
    "an account's name may be %s",
    (name) => expect(() => requireAccountName(name)).not.toThrow(),
  );

  it.each([
    ...["", " ", "Ada", "-a", "_a", "ä", "a b", "a.b", "a/b", "..", ".", "a\0", "a\n", "a\\b", "a:b"],
    ...["con", "nul", "aux", "prn", "com1", "lpt9", "a".repeat(33)],
  ])("an account's name may not be %j", (name) => expect(refusalOf(name).code).toBe("bad-name"));

  it("an account's name is a valid folder name on every platform", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary" })), (name) => {
        if (isAccountName(name)) expect(name).toMatch(/^[a-z0-9][a-z0-9_-]*$/);
        else expect(refusalOf(name).message + refusalOf(name).hint).not.toMatch(/undefined/);
      }),
    );
  });

  it("an account's name is not part of the error that refuses it, since it may be a token", () => {
    const token = fc.stringMatching(/^[A-Z][A-Za-z0-9_.~+/-]{18,60}$/);
    fc.assert(
      fc.property(token, (text) => {
        const { message, hint, stack } = refusalOf(text);
        expect(`${message}${hint}${stack}`).not.toContain(text);
      }),
    );
  });
});

it("the name of the catalogue's principal is refused for a new account and accepted for an existing one", () => {
  expect(() => requireNewAccountName("catalogue")).toThrow(
    expect.objectContaining({
      code: "bad-name",
      message: expect.stringContaining("The name catalogue is reserved"),
    }),
  );
  expect(() => requireAccountName("catalogue")).not.toThrow();
  for (const name of ["catalogue-2", "ada"]) expect(() => requireNewAccountName(name)).not.toThrow();
  for (const name of ["Ada", "8c2719eed45249d73005f2c0fa642c9c37d5910f"])
    expect(() => requireNewAccountName(name)).toThrow(expect.objectContaining({ code: "bad-name" }));
});

describe("token-like words", () => {
  it.each([
    "8c2719eed45249d73005f2c0fa642c9c37d5910f",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "123e4567-e89b-12d3-a456-426614174000",
    "03855cfc81d20eab",
  ])("%s looks like a token and is refused as a name", (word) => {
    expect(looksLikeToken(word)).toBe(true);
    expect(refusalOf(word).hint).toMatch(/--token-stdin/);
  });

  it.each([
    "ada",
    "my-account-of-2026-11-22",
    "grandmother-of-the-house",
    "2026-11-22T06:00:00.000Z",
    "catalogue.sqlite",
  ])("%s does not look like a token", (word) => expect(looksLikeToken(word)).toBe(false));
});
