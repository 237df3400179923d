import { expect } from "vitest";
import { callArmoire } from "../../support/run-armoire.ts";

/** The output of a command that must succeed without messages. */
export async function output(...args: readonly string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await callArmoire(args);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return stdout;
}

export async function json<Output>(...args: readonly string[]): Promise<Output> {
  return JSON.parse(await output(...args, "--json")) as Output;
}
