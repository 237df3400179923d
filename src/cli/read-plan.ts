/** What a command plans from: its settings, and what it was told to go for. */
import { toMirrorError } from "../mirror/errors.ts";
import { planSync, type SyncPlan } from "../sync/plan-sync.ts";
import { readAppCredential } from "./credentials.ts";
import type { Io } from "./io.ts";
import { ledgerFile } from "./mirror-file.ts";
import type { Settings } from "./settings.ts";
import type { WantedWalk } from "./walk-flags.ts";

/** Which mirror, from where, and how to walk. */
export interface Wanted extends WantedWalk {
  readonly file: string;
  readonly baseUrl: string;
}

/** @throws CliError, ServiceSettingsError, LedgerError, and MirrorError, also where damage shows only while the file is read */
export function readPlan(
  { file, baseUrl, ...walk }: Pick<Wanted, "file" | "baseUrl"> & Partial<WantedWalk>,
  settings: Settings,
  io: Io,
): SyncPlan {
  const credential = readAppCredential(io);
  try {
    return planSync({ file, baseUrl, credential, ledgerFile: ledgerFile(settings), ...walk });
  } catch (error) {
    throw toMirrorError(error, file);
  }
}
