/** `sync --seed`: the snapshot that is loaded before a sync. */
import { formatLoaded, type GivenReport } from "../format/mirror/loaded.ts";
import type { Settings } from "../settings/settings.ts";
import { CliError } from "../terminal/exit-codes.ts";
import { type Io, printText } from "../terminal/io.ts";

export interface SeedFlags {
  readonly seed?: string;
  readonly allowPrivate?: boolean;
}

/** @throws CliError for an account or a dry run */
export function requireSeedable(
  { seed, dryRun }: SeedFlags & { readonly dryRun?: boolean },
  { account }: Settings,
): void {
  if (seed === undefined) return;
  const flag = account !== null ? "--account" : dryRun ? "--dry-run" : null;
  if (flag === null) return;
  const hint =
    flag === "--account" ? "A snapshot is of a catalogue." : "Load it with `armoire snapshot load`.";
  throw new CliError("usage", `--seed and ${flag} cannot be given together.`, hint);
}

/** @returns null without a seed @throws as `loadGiven` */
export async function loadSeed(
  { seed, allowPrivate = false }: SeedFlags,
  signal: AbortSignal,
  settings: Settings,
  io: Io,
): Promise<GivenReport | null> {
  if (seed === undefined) return null;
  // Loaded only now: other syncs start sooner without archives.
  const { loadGiven } = await import("./load-given.ts");
  const report = await loadGiven({ places: [seed], allowPrivate, signal }, settings, io);
  if (!settings.json && !settings.quiet) printText(io, formatLoaded(report));
  return report;
}
