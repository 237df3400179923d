/** Every command: its line in `armoire --help`, and the module that is loaded when it is called. */
import type { Command } from "commander";
import type { Io } from "./terminal/io.ts";

/** The export of a file in `commands/`. */
export interface CommandModule {
  /** Adds options, help and action to a command that has its name already. */
  configure(command: Command, io: Io): void;
}

interface CommandEntry {
  readonly summary: string;
  /** As its help names them. */
  readonly operands?: string;
  readonly load: () => Promise<CommandModule>;
}

export const commands: Readonly<Record<string, CommandEntry>> = {
  sync: { summary: "bring a mirror up to date", load: () => import("./commands/mirror/sync.ts") },
  plan: {
    summary: "show what the next sync fetches, what it costs and how long the rest takes",
    load: () => import("./commands/mirror/plan.ts"),
  },
  status: {
    summary: "show coverage, freshness and problems of a mirror",
    load: () => import("./commands/mirror/status.ts"),
  },
  runs: {
    operands: "[COMMAND]",
    summary: "show the run log, or one run",
    load: () => import("./commands/mirror/runs.ts"),
  },
  show: {
    operands: "KIND [KEY]",
    summary: "show one resource",
    load: () => import("./commands/data/show.ts"),
  },
  history: {
    operands: "KIND [KEY]",
    summary: "show the revisions of one resource, field by field",
    load: () => import("./commands/data/history.ts"),
  },
  search: {
    operands: "TEXT...",
    summary: "find brands and models, or an account's bras, by name",
    load: () => import("./commands/data/search.ts"),
  },
  query: {
    operands: "[SQL]",
    summary: "run read-only SQL or a named question",
    load: () => import("./commands/data/query.ts"),
  },
  tables: {
    operands: "[TABLE]",
    summary: "show what the tables and columns mean",
    load: () => import("./commands/data/tables.ts"),
  },
  diff: {
    summary: "compare two points in time, two mirrors or two exports",
    load: () => import("./commands/data/diff.ts"),
  },
  changes: {
    summary: "show what the latest runs found, as a report or a feed",
    load: () => import("./commands/data/changes.ts"),
  },
  page: {
    summary: "write an account's bras and measurements as a page to keep",
    load: () => import("./commands/data/page.ts"),
  },
  serve: {
    summary: "show a mirror as local web pages",
    load: () => import("./commands/operations/serve.ts"),
  },
  mcp: {
    summary: "let a language model's program read a mirror",
    load: () => import("./commands/operations/mcp.ts"),
  },
  export: {
    operands: "[COMMAND]",
    summary: "write the tables as a Data Package, or verify one",
    load: () => import("./commands/data/export.ts"),
  },
  account: {
    operands: "COMMAND",
    summary: "add, list or remove users whose data is mirrored",
    load: () => import("./commands/operations/account.ts"),
  },
  backup: {
    operands: "[COMMAND]",
    summary: "create, verify, restore, list or prune backups",
    load: () => import("./commands/backup/backup.ts"),
  },
  snapshot: {
    operands: "COMMAND",
    summary: "share a catalogue: create, verify, show or load snapshots",
    load: () => import("./commands/snapshot/snapshot.ts"),
  },
  mirror: {
    operands: "COMMAND",
    summary: "check, rebuild or compact a mirror",
    load: () => import("./commands/mirror/mirror.ts"),
  },
  worker: {
    summary: "send requests for syncs that use Redis",
    load: () => import("./commands/operations/worker.ts"),
  },
  schedule: {
    operands: "COMMAND",
    summary: "run syncs, backups and exports at set times",
    load: () => import("./commands/operations/schedule.ts"),
  },
  doctor: { summary: "check the whole set-up", load: () => import("./commands/operations/doctor.ts") },
  completion: {
    summary: "print a script that completes commands in a shell",
    operands: "SHELL",
    load: () => import("./commands/operations/completion.ts"),
  },
  sandbox: {
    summary: "run a local service with an invented catalogue",
    load: () => import("./commands/operations/sandbox.ts"),
  },
};
