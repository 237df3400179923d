/** Every command: its line in `armoire --help`, and the module that is loaded when it is called. */
import type { Command } from "commander";
import type { Io } from "./io.ts";

/** What a file in `commands/` exports: it adds its options, help and action to a command that already has a name. */
export interface CommandModule {
  configure(command: Command, io: Io): void;
}

interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

export const commands: Readonly<Record<string, CommandEntry>> = {
  sandbox: { summary: "run a complete service of your own, to try everything", load: () => import("./commands/sandbox.ts") },
};
