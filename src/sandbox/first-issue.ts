import type { z } from "zod";

/** What is wrong with a value, in one line. @param what it is the value of */
export function firstIssue(what: string, error: z.ZodError): string {
  const [issue] = error.issues;
  const path = issue?.path.join(".") ?? "";
  return `${what}${path === "" ? "" : ` ${path}`}: ${issue?.message ?? "wrong"}`;
}
