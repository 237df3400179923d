import { describe, expect, it } from "vitest";
import { ExportError } from "../../../exports/errors.ts";
import { BackupError } from "../../../src/archive/errors.ts";
import {
  CliError,
  describeError,
  exitCodeOf,
  exitCodes,
  precedence,
} from "../../../src/cli/terminal/exit-codes.ts";
import { MirrorError, type MirrorErrorCode } from "../../../src/mirror/file/errors.ts";
import { FileError } from "../../../src/platform/errors.ts";
import { KeyError } from "../../../src/query/keys/resolve-key.ts";
import { QueryError } from "../../../src/query/sql/errors.ts";
import { ServiceSettingsError } from "../../../src/service/errors.ts";
import { SyncError } from "../../../src/sync/errors.ts";
import { LedgerError } from "../../../src/sync/rate-limit/errors.ts";

const hint = "Do this next.";

describe("codes", () => {
  it.each<[MirrorErrorCode, number]>([
    ["not-found", 1],
    ["not-a-mirror", 1],
    ["unwritable", 1],
    ["unsafe-sqlite", 1],
    ["other-service", 4],
    ["damaged", 14],
    ["newer", 14],
  ])("the exit code of the mirror error %s is %d", (code, exitCode) => {
    expect(exitCodeOf(new MirrorError(code, "f.sqlite", "What", hint))).toBe(exitCode);
  });

  it.each<[LedgerError["code"], number]>([
    ["damaged", 14],
    ["newer", 14],
    ["not-a-ledger", 1],
    ["unwritable", 1],
  ])("the exit code of the ledger error %s is %d", (code, exitCode) => {
    expect(exitCodeOf(new LedgerError(code, "ledger.sqlite"))).toBe(exitCode);
  });

  it.each([
    [new SyncError("not-authenticated", "What", hint), 4],
    [new SyncError("nothing-fetched", "What", hint), 1],
    [new SyncError("unknown-brand", "What", hint), 2],
    [new ServiceSettingsError("bad-credential", "What", hint), 4],
    [new QueryError("syntax", "What", hint), 2],
    [new QueryError("not-read-only", "What", hint), 2],
    [new QueryError("timeout", "What", hint), 1],
    [new QueryError("damaged", "What", hint), 14],
    [new BackupError("damaged", "What", hint), 15],
    [new BackupError("other-version", "What", hint), 15],
    [new ExportError("damaged-package", "What", hint), 15],
    [new ExportError("newer-package", "What", hint), 15],
    [new ExportError("write-failed", "What", hint), 1],
    [new ExportError("bad-table-name", "What", hint), 2],
    [new KeyError("unknown", "What", hint), 1],
    [new FileError("locked", "What", hint), 11],
    [new CliError("terminated", "What"), 143],
    [new Error("unexpected"), 1],
    ["not even an error", 1],
  ])("the exit code of %s is %d", (error, exitCode) => {
    expect(exitCodeOf(error)).toBe(exitCode);
  });
});

it("of several exit codes, any failure takes precedence over success", () => {
  // A sync finds no differences.
  const ofSync = Object.values(exitCodes).filter((code) => code !== exitCodes.different);
  expect([...precedence].sort((a, b) => a - b)).toEqual(ofSync.sort((a, b) => a - b));
  expect(precedence.at(-1)).toBe(exitCodes.done);
});

describe("error messages", () => {
  it("the text of an error states what happened and how to fix it", () => {
    expect(describeError(new MirrorError("not-found", "f.sqlite", "No mirror", hint), false)).toBe(
      `armoire: No mirror: f.sqlite\n${hint}\n`,
    );
  });

  it("the text of an unexpected error mentions --verbose", () => {
    expect(describeError(new Error("boom"), false)).toBe(
      "armoire: boom\nThis is unexpected. --verbose shows where it happened.\n",
    );
  });

  it.each([
    ["EAGAIN", "ERR_WORKER_INIT_FAILED"],
    ["spawn /usr/bin/setpriv EAGAIN", "EAGAIN"],
  ])("the text of the error %s of a thread or process names the limit", (message, code) => {
    expect(describeError(Object.assign(new Error(message), { code }), false)).toBe(
      `armoire: ${message}\nToo many processes or threads are running. End other programs, or raise their limit (ulimit -u).\n`,
    );
  });

  it("the text of an error contains stack and cause only with --verbose", () => {
    const error = new CliError("failed", "What", hint, { cause: new Error("because") });
    expect(describeError(error, false).split("\n")).toHaveLength(3);
    const verbose = describeError(error, true);
    expect(verbose).toMatch(/\n {4}at /);
    expect(verbose).toMatch(/\nCaused by: because\n$/);
  });

  it("the text of an error escapes control characters of the service", () => {
    const evil = "\u001b[2J\u009b2J\u202eevil\nsecond line\ud800";
    const error = new SyncError("unknown-brand", `No ${evil}`, `Did you mean ${evil}?`);
    for (const isVerbose of [false, true]) {
      const lines = describeError(error, isVerbose).trimEnd().split("\n");
      for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Cs}\p{Bidi_Control}]/u);
      expect(lines.slice(0, 2)).toEqual([
        "armoire: No \\u202eevil\\nsecond line\\ud800",
        "Did you mean \\u202eevil\\nsecond line\\ud800?",
      ]);
    }
  });
});
