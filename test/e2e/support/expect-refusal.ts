import { expect } from "vitest";
import type { CommandResult } from "../../support/run-armoire.ts";

/** One to three lines on stderr that match, no stack, nothing on stdout, and the exit code. */
export function expectRefusal(result: CommandResult, exitCode: number, message: RegExp): void {
  const { stdout, stderr } = result;
  expect({ exitCode: result.exitCode, stdout, stderr }).toEqual({
    exitCode,
    stdout: "",
    stderr: expect.stringMatching(message),
  });
  expect(stderr.endsWith("\n")).toBe(true);
  expect(stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(3);
  expect(stderr).not.toMatch(/\n\s+at |This is unexpected/);
}
