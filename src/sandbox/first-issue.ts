import type { z } from "zod";

/** What is wrong with a value, in one line. @param what it is the value of */
export function firstIssue(what: string, error: z.ZodError): string {
  const { path, message } = deepest(error.issues, []) ?? { path: [], message: "wrong" };
  return `${what}${path.length === 0 ? "" : ` ${path.join(".")}`}: ${message}`;
}

interface Wrong {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Of several forms, the one is meant that the value comes closest to: in which what is wrong lies deepest. */
function deepest(issues: readonly z.core.$ZodIssue[], above: readonly PropertyKey[]): Wrong | null {
  const [issue] = issues;
  if (issue === undefined) return null;
  const path = [...above, ...issue.path];
  if (issue.code !== "invalid_union") return { path, message: issue.message };
  const found = issue.errors.map((branch) => deepest(branch, path)).filter((wrong) => wrong !== null);
  return (
    found.sort((one, other) => other.path.length - one.path.length)[0] ?? { path, message: issue.message }
  );
}
