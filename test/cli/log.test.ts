import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openLog } from "../../src/cli/log.ts";
import { appCredential, bearerToken } from "../../src/service/credentials/credential.ts";
import { secretEncodings } from "../../src/service/credentials/secret-encodings.ts";
import { fakeIo } from "./support/fake-io.ts";

const nothing = { credentials: [], redis: null };
const linesOf = (text: string): object[] =>
  text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));

describe("without a terminal", () => {
  it("a log without a terminal writes one JSON line per event, with its facts", () => {
    const io = fakeIo();
    const log = openLog({ json: false, quiet: false }, io, nothing);
    log.info("ready", 'Sending for "ada".', { concurrency: 8, principals: ["ada"] });
    log.warn("warning", "Redis\nis away");
    expect(linesOf(io.written.err)).toEqual([
      expect.objectContaining({
        ...{ level: "info", event: "ready", concurrency: 8, principals: ["ada"], msg: 'Sending for "ada".' },
        time: expect.stringMatching(/^\d{4}-.*Z$/),
      }),
      expect.objectContaining({ level: "warn", event: "warning", msg: "Redis\nis away" }),
    ]);
    expect(io.written.out).toBe("");
  });

  it("a log without a terminal writes only warnings with --quiet", () => {
    const io = fakeIo();
    const log = openLog({ json: false, quiet: true }, io, nothing);
    log.info("ready", "ready");
    log.warn("warning", "trouble");
    expect(linesOf(io.written.err)).toEqual([expect.objectContaining({ msg: "trouble" })]);
  });
});

describe("on a terminal", () => {
  it("a log on a terminal writes plain text", () => {
    const io = fakeIo({ isTerminal: true });
    openLog({ json: false, quiet: false }, io, nothing).info("ended", "Ended.", { sent: 1 });
    expect(io.written.err).toBe("Ended.\n");
  });

  it("a log on a terminal writes JSON with --json", () => {
    const io = fakeIo({ isTerminal: true });
    openLog({ json: true, quiet: false }, io, nothing).info("ended", "Ended.");
    expect(linesOf(io.written.err)).toHaveLength(1);
  });
});

const secret = fc.string({ unit: fc.constantFrom(...'abcXYZ019-._~+/="\\<&'), minLength: 12, maxLength: 40 });

it("a log hides a password in an address with a wrong escape", () => {
  const io = fakeIo();
  openLog({ json: false, quiet: false }, io, {
    credentials: [],
    redis: "redis://:hunter50%off@queue.example",
  }).warn("warning", "It is hunter50%off.");
  expect(linesOf(io.written.err)).toEqual([expect.objectContaining({ msg: "It is [credential]." })]);
});

it("a log never contains a secret, in any encoding and at any place of the line", () => {
  fc.assert(
    fc.property(secret, secret, secret, fc.boolean(), (token, appSecret, password, isTerminal) => {
      const io = fakeIo({ isTerminal });
      const log = openLog({ json: false, quiet: false }, io, {
        credentials: [bearerToken(token), appCredential("key", appSecret), null],
        redis: `redis://user:${encodeURIComponent(password)}@queue.example:6379`,
      });
      const spelled = [token, appSecret, password].flatMap((text) =>
        secretEncodings(text)
          .filter(({ form }) => form !== "UTF-16")
          .map(({ bytes }) => bytes.toString("latin1")),
      );
      for (const text of spelled) {
        log.warn("warning", `before ${text} after`);
        log.info(text, "fact", { [`x${text}`]: text, list: [text] });
      }
      for (const text of spelled) expect(io.written.err).not.toContain(text);
      expect(io.written.err).toContain("before ");
    }),
    { numRuns: 60 },
  );
});
