/** Every command: its line in `armoire --help`, and the module that is loaded when it is called. */
import type { Command } from "commander";
import type { Io } from "./terminal/io.ts";

/** What a file in `commands/` exports: it adds its options, help and action to a command that already has a name. */
export interface CommandModule {
  configure(command: Command, io: Io): void;
}

interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

export const commands: Readonly<Record<string, CommandEntry>> = {
  sync: { summary: "bring the mirror up to date", load: () => import("./commands/mirror/sync.ts") },
  plan: {
    summary: "what comes next, what it costs and how long it takes",
    load: () => import("./commands/mirror/plan.ts"),
  },
  status: {
    summary: "what the mirror holds and how fresh it is",
    load: () => import("./commands/mirror/status.ts"),
  },
  runs: { summary: "the run log", load: () => import("./commands/mirror/runs.ts") },
  show: { summary: "one brand, model or size", load: () => import("./commands/data/show.ts") },
  history: {
    summary: "the life of a brand, model or size, field by field",
    load: () => import("./commands/data/history.ts"),
  },
  search: {
    summary: "brands and models by their names, codes and brands",
    load: () => import("./commands/data/search.ts"),
  },
  query: { summary: "read-only SQL", load: () => import("./commands/data/query.ts") },
  diff: { summary: "what changed between two points", load: () => import("./commands/data/diff.ts") },
  export: {
    summary: "the tables as CSV and JSON, with a manifest",
    load: () => import("./commands/data/export.ts"),
  },
  account: {
    summary: "add, list or remove users' data",
    load: () => import("./commands/accounts/account.ts"),
  },
  backup: {
    summary: "archives of an account that can be proven and restored",
    load: () => import("./commands/accounts/backup.ts"),
  },
  mirror: {
    summary: "check, rebuild or compact a mirror",
    load: () => import("./commands/mirror/mirror.ts"),
  },
  worker: {
    summary: "send requests for syncs that run elsewhere",
    load: () => import("./commands/operations/worker.ts"),
  },
  schedule: {
    summary: "syncs, backups and exports that come again and again",
    load: () => import("./commands/operations/schedule.ts"),
  },
  doctor: { summary: "check the whole set-up", load: () => import("./commands/operations/doctor.ts") },
  sandbox: {
    summary: "run a service of your own, to try everything",
    load: () => import("./commands/operations/sandbox.ts"),
  },
};
