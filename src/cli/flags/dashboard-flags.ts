/** Whether a worker has a dashboard, where it listens and what it may do. */
import type { Command } from "commander";
import type { DashboardOptions } from "../../../jobs/bullmq/dashboard/server.ts";
import { isLoopback } from "../../platform/ip-class.ts";
import { CliError } from "../terminal/exit-codes.ts";
import { portNumber } from "./option-values.ts";

export interface DashboardFlags {
  readonly dashboard?: number;
  readonly dashboardHost?: string;
  readonly allowActions?: boolean;
}

export function addDashboardFlags(command: Command): Command {
  return command
    .option(
      "--dashboard <port>",
      "pages on the queues, /healthz and /metrics; 0 takes a free port",
      portNumber,
    )
    .option("--dashboard-host <address>", "address that it listens at; 127.0.0.1 unless told")
    .option("--allow-actions", "let the dashboard hold queues and throw jobs away, not only show them");
}

/** @returns null where none is wanted @throws CliError */
export function dashboardOf({
  dashboard,
  dashboardHost,
  allowActions,
}: DashboardFlags): DashboardOptions | null {
  if (dashboard === undefined) {
    if (dashboardHost === undefined && allowActions === undefined) return null;
    throw new CliError(
      "usage",
      "There is no dashboard to be told so.",
      "Give --dashboard PORT with --dashboard-host or --allow-actions.",
    );
  }
  const host = dashboardHost ?? "127.0.0.1";
  if (allowActions && !isLoopback(host)) {
    throw new CliError(
      "usage",
      `--allow-actions is for a dashboard on this machine only, and ${host} can be reached from others: it asks nobody for a password.`,
      "Leave --dashboard-host out, and reach it through `ssh -L`.",
    );
  }
  return { port: dashboard, host, allowsActions: allowActions === true };
}
