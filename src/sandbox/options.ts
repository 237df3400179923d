/** The sandbox's options and their defaults. A wrong value is refused with a one-line error. */
import { readFileSync, statSync } from "node:fs";
import { z } from "zod";
import {
  type FaultPresetName,
  type FaultRule,
  type FaultRuleInput,
  faultPresetNames,
  faultPresets,
  faultRules,
} from "./faults/fault-rules.ts";
import { variants } from "./variants.ts";
import type { WorldTotals } from "./world/world.ts";

/** `real` has the size of a real catalogue; `small` is for quick tests. */
const presets = {
  small: { brands: 12, models: 60, sizes: 300 },
  real: { brands: 683, models: 13_000, sizes: 90_000 },
} as const satisfies Record<string, WorldTotals>;

export const presetNames = ["small", "real"] as const;

const allowance = z.int().min(0).nullable();
const total = z.int().min(0).max(1_000_000);

const optionsSchema = z.strictObject({
  host: z.string().default("127.0.0.1"),
  /** 0: any free port. */
  port: z.int().min(0).max(65_535).default(0),
  /** Determines all content. */
  seed: z.int().min(0).default(1),
  preset: z.enum(presetNames).default("small"),
  /** Total number; default: the preset's. */
  brands: total.min(1).optional(),
  models: total.optional(),
  sizes: total.optional(),
  pageSize: z.int().min(1).max(10_000).default(20),
  paginateSizes: z.boolean().default(false),
  measurements: z.enum(variants.measurements).default("linked"),
  /** Whether measurements of bras may be null, although the specification does not say so. */
  nullMeasurements: z.boolean().default(false),
  pictures: z.enum(variants.pictures).default("elsewhere"),
  layout: z.enum(variants.layout).default("plain"),
  pagination: z.enum(variants.pagination).default("page"),
  /** The `<name>` of `<name>_url` fields. */
  serviceName: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,30}$/i, "letters, digits and underscores")
    .default("service"),
  /** Counted requests of each credential in a window; null: no limit and no allowance headers. */
  allowance: allowance.default(1_000_000),
  /** Instead of it, for requests without a credential, of the application, and of each user. */
  allowances: z.strictObject({ none: allowance, app: allowance, user: allowance }).partial().default({}),
  windowSeconds: z.int().min(1).default(86_400),
  /** With `none`, only the `rate_limit` resource shows the remaining count. */
  allowanceHeaders: z.enum(variants.allowanceHeaders).default("epoch"),
  /** The names of the allowance headers. */
  rateLimitFields: z.enum(variants.rateLimitFields).default("x-ratelimit"),
  /** What the reported limit is: the grant, or what was used of it. */
  limitMeaning: z.enum(variants.limitMeaning).default("granted"),
  /** The response when nothing is left. */
  spentResponse: z.enum(variants.spentResponse).default("explained"),
  /** Whether "not modified" counts, and is refused when the allowance is used up. */
  countNotModified: z.boolean().default(false),
  /** Whether the root counts, and is refused when the allowance is used up. */
  countRoot: z.boolean().default(false),
  etag: z.enum(variants.etag).default("strong"),
  /** Whether a list is empty once all its pages were read. */
  emptiedLists: z.boolean().default(false),
  /** Whether browsers let pages of other origins read responses. */
  cors: z.boolean().default(false),
  /** Delay of every reply. */
  latencyMillis: z.int().min(0).max(3_600_000).default(0),
  users: z.int().min(0).max(10_000).default(1),
  /** How it shows that a token lacks the scope of bras or measurements. */
  missingScope: z.enum(variants.missingScope).default("null-link"),
  /** Status of "Not authenticated" replies. */
  unauthorizedStatus: z.int().min(200).max(599).default(401),
});

export interface SandboxOptions extends z.input<typeof optionsSchema> {
  /** A preset's name, rules, or a JSON file of rules. */
  readonly faults?: FaultsOption;
}

export type FaultsOption = FaultPresetName | readonly FaultRuleInput[] | { readonly file: string };

export interface SandboxSettings extends z.output<typeof optionsSchema> {
  readonly totals: WorldTotals;
  readonly faultRules: readonly FaultRule[];
}

/** A wrong option value; the hint says what is allowed. */
export class SandboxOptionError extends Error {
  override readonly name = "SandboxOptionError";
  readonly hint: string;
  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
  }
}

/** @throws SandboxOptionError */
export function resolveOptions({ faults = [], ...options }: SandboxOptions): SandboxSettings {
  const result = optionsSchema.safeParse(options);
  if (!result.success)
    throw new SandboxOptionError(firstIssue("option", result.error), "See `armoire sandbox --help`.");
  const settings = result.data;
  const preset = presets[settings.preset];
  const { brands = preset.brands, models = preset.models, sizes = preset.sizes } = settings;
  return {
    ...settings,
    totals: { brands, models, sizes: models === 0 ? 0 : sizes },
    faultRules: readFaults(faults),
  };
}

/** @throws SandboxOptionError */
export function readFaults(faults: FaultsOption): readonly FaultRule[] {
  const hint = `Name a preset (${faultPresetNames.join(", ")}) or write rules as docs/sandbox.md shows.`;
  const rules =
    typeof faults === "string"
      ? faultPresets[faults]
      : "file" in faults
        ? readRulesFile(faults.file, hint)
        : faults;
  const result = faultRules.safeParse(rules);
  if (!result.success) throw new SandboxOptionError(firstIssue("fault rule", result.error), hint);
  return result.data;
}

function readRulesFile(path: string, hint: string): unknown {
  try {
    // A pipe or device might never end.
    if (!statSync(path).isFile()) throw new Error("it is not a regular file");
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const reason = error instanceof SyntaxError ? "it is not JSON" : "it cannot be read";
    throw new SandboxOptionError(`faults: ${reason}: ${path}`, hint, { cause: error });
  }
}

/** Describes an invalid value in one line. @param subject the name of the value */
export function firstIssue(subject: string, error: z.ZodError): string {
  const { path, message } = deepest(error.issues, []) ?? { path: [], message: "wrong" };
  return `${subject}${path.length === 0 ? "" : ` ${path.join(".")}`}: ${message}`;
}

interface Wrong {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Of several allowed forms, reports the closest: the one whose problem is deepest. */
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
