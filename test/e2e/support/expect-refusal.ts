import { expect } from "vitest";
import type { CommandResult } from "../../support/run-armoire.ts";

/** One to three lines on stderr that match, no stack, nothing on stdout, and the exit code. */
export function expectRefusal(ended: CommandResult, exitCode: number, says: RegExp): void {
  const { stdout, stderr } = ended;
  expect({ exitCode: ended.exitCode, stdout, stderr }).toEqual({
    exitCode,
    stdout: "",
    stderr: expect.stringMatching(says),
  });
  expect(stderr.endsWith("\n")).toBe(true);
  expect(stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(3);
  expect(stderr).not.toMatch(/\n\s+at |This is unexpected/);
}
