import { expect } from "vitest";
import { callArmoire } from "../../support/run-armoire.ts";

/** The program's output, where it ends well and says nothing beside it. */
export async function output(...args: readonly string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await callArmoire(args);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return stdout;
}

export async function json<Output>(...args: readonly string[]): Promise<Output> {
  return JSON.parse(await output(...args, "--json")) as Output;
}
