import { format, inspect } from "node:util";
import { describe, expect, test } from "vitest";
import {
  appCredential,
  authorizationOf,
  bearerToken,
  redact,
} from "../../../src/service/credentials/credential.ts";
import { ServiceSettingsError } from "../../../src/service/errors.ts";

const token = "canary/4711+x=";

describe("secrecy and encoding", () => {
  test("printing or serialising a credential reveals nothing", () => {
    const credential = bearerToken(token);
    const shown = [
      String(credential),
      `${credential}`,
      JSON.stringify({ credential }),
      inspect(credential, { showHidden: true, depth: 9 }),
      inspect({ credential }, { customInspect: false, showHidden: true, depth: 9 }),
      format("%s %o %j", credential, credential, credential),
      Object.entries(credential).join(),
    ];
    expect(shown.join("\n")).not.toContain("canary");
    expect(shown[0]).toBe("[credential]");
    expect(() => structuredClone(credential)).toThrow();
  });

  test("a credential makes the Authorization header that the service expects", () => {
    expect(authorizationOf(bearerToken(token))).toBe(`bearer ${token}`);
    expect(authorizationOf(appCredential("key", "secret"))).toBe("app key:secret");
  });

  test("every encoding of a credential is removed from texts", () => {
    const encodings = [token, encodeURIComponent(token), btoa(token)];
    expect(redact(bearerToken(token), encodings.join(" "))).toBe("[credential] [credential] [credential]");
    expect(redact(appCredential("key", "s3cret"), "key:s3cret or s3cret")).toBe(
      "[credential] or [credential]",
    );
  });

  test.each(["", "a b", "a\n", "a\r\nx: y", "a\0", "ä", "🙂"])(
    "a credential refuses %j without repeating it",
    (bad) => {
      for (const make of [
        () => bearerToken(bad && `canary${bad}`),
        () => appCredential("key", bad && `canary${bad}`),
      ]) {
        expect(make).toThrow(ServiceSettingsError);
        expect(make).not.toThrow(/canary/);
      }
    },
  );

  test("an application key with a colon is refused", () => {
    expect(() => appCredential("a:b", "secret")).toThrow(ServiceSettingsError);
  });
});
