/** One thing that works or does not, as `doctor` tells of it. */
export interface Diagnosis {
  readonly isWell: boolean;
  readonly what: string;
  readonly hint: string | null;
}

/** What was thrown, as something that does not work. */
export function diagnoseError(error: unknown): Diagnosis {
  return { isWell: false, what: messageOf(error), hint: hintOf(error) };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function hintOf(error: unknown): string | null {
  return error instanceof Error && "hint" in error && typeof error.hint === "string" ? error.hint : null;
}
