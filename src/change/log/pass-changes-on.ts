/** Passes changes on to a command, at least once: after a failed call the next one gets its changes, too. */
import type { Kinds } from "../../../schema/kind.ts";
import { readMirror } from "../../mirror/reader.ts";
import { readPassedOn, writePassedOn } from "../../mirror/runs/passed-on.ts";
import { openMirrorWriter } from "../../mirror/writer.ts";
import { hasCode } from "../../platform/errors.ts";
import { type ChangeCommand, type ChangeCommandOutcome, runChangeCommand } from "./run-command.ts";

export interface PassChangesOnOptions {
  readonly command: ChangeCommand;
  /** The mirror's file. */
  readonly mirror: string;
  readonly kinds: Kinds;
  /** If no command has received changes of this mirror yet, it receives those after this run. */
  readonly before: number;
  /** ISO 8601; shown to a process that finds the mirror locked. */
  readonly openedAt: string;
  /** Ends the command. */
  readonly signal?: AbortSignal;
}

/**
 * Runs the command with the changes of all runs since its last successful call, whatever the command was then.
 * @returns null if there are no changes @throws PointError, MirrorError
 */
export async function passChangesOn(options: PassChangesOnOptions): Promise<ChangeCommandOutcome | null> {
  const { command, mirror, before, signal } = options;
  const passedOn = readMirror(mirror, ({ db }) => readPassedOn(db));
  const after = passedOn ?? before;
  const outcome = await runChangeCommand(command, { mirror, after }, signal, async () => {
    if (passedOn === null) await note(options, after);
  });
  if (outcome?.exitCode === 0) await note(options, outcome.to);
  return outcome;
}

/** If a sync holds the lock, it has the same changes to pass on: they are passed on twice. */
async function note({ mirror: file, kinds, openedAt }: PassChangesOnOptions, run: number): Promise<void> {
  const identity = readMirror(file, (reader) => reader.identity);
  try {
    const mirror = await openMirrorWriter({ file, identity, kinds, openedAt, mustExist: true });
    try {
      writePassedOn(mirror.db, run);
    } finally {
      mirror.close();
    }
  } catch (error) {
    if (!hasCode(error, "locked")) throw error;
  }
}
