import { expect, it, vi } from "vitest";
import { noteBackup } from "../../src/cli/note-backup.ts";
import { toFileError } from "../../src/platform/errors.ts";
import { fakeIo } from "./support/fake-io.ts";

const failureOf = (code: string) =>
  toFileError(Object.assign(new Error(code), { code, syscall: "fsync" }), "/data/newest-backup.json");

it.each([
  { code: "EACCES", exitCode: null },
  { code: "EROFS", exitCode: null },
  { code: "ENOTDIR", exitCode: null },
  { code: "EIO", exitCode: 1 },
  { code: "ENOSPC", exitCode: 1 },
])(
  "a backup that cannot be noted because of $code is a warning with exit code $exitCode",
  async (example) => {
    const recorded = fakeIo();
    const setExitCode = vi.fn();
    const io = { ...recorded, setExitCode };
    await noteBackup(io, Promise.reject(failureOf(example.code)), false);
    expect(recorded.written.err).toContain(
      `Warning: \`armoire status\` will not show this backup. Cannot read or write`,
    );
    expect(setExitCode.mock.calls).toEqual(example.exitCode === null ? [] : [[example.exitCode]]);
  },
);
