/** What a long-running command serves: the dashboard of a worker, or the metrics of a scheduler. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { DashboardOptions } from "../../../jobs/bullmq/dashboard/server.ts";
import { messageOf } from "../../platform/errors.ts";
import { touchHeartbeat } from "../../platform/files/heartbeat-file.ts";
import { requireReplaceable } from "../../platform/files/replaceable-files.ts";
import { CliError } from "../terminal/exit-codes.ts";
import { collect, portNumber } from "./option-values.ts";

export interface DashboardFlags extends HeartbeatFlags {
  readonly dashboard?: number;
  readonly dashboardHost?: string;
  readonly dashboardName: readonly string[];
}

export function addDashboardFlags(command: Command): Command {
  return command
    .option("--dashboard <port>", "serve /healthz and /metrics; 0 picks a free port", portNumber)
    .addOption(
      new Option("--dashboard-host <address>", "the dashboard's listening address").default(
        undefined,
        "127.0.0.1",
      ),
    )
    .option("--dashboard-name <name>", "accept requests with this host name, too (repeatable)", collect, [])
    .option(...heartbeatOption);
}

/** @returns null without a dashboard @throws CliError */
export function dashboardOf({
  dashboard,
  dashboardHost,
  dashboardName,
}: DashboardFlags): DashboardOptions | null {
  if (dashboard !== undefined)
    return { port: dashboard, host: dashboardHost ?? "127.0.0.1", names: dashboardName };
  if (dashboardHost === undefined && dashboardName.length === 0) return null;
  throw new CliError(
    "usage",
    "--dashboard-host and --dashboard-name need --dashboard.",
    "Add --dashboard PORT, or leave them out.",
  );
}

export interface HeartbeatFlags {
  readonly heartbeat?: string;
}

export const heartbeatOption = [
  "--heartbeat <file>",
  "touch this file every few seconds while all is well, for health checks that look at its age",
] as const;

/**
 * @param onProblem receives why the file cannot be touched, once
 * @throws FileError `not-replaceable`
 */
export function heartbeatOf({ heartbeat }: HeartbeatFlags, onProblem: (text: string) => void): () => void {
  if (heartbeat !== undefined) requireReplaceable(heartbeat);
  let hasFailed = false;
  return () => {
    if (heartbeat === undefined) return;
    try {
      touchHeartbeat(heartbeat);
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) onProblem(messageOf(error));
      hasFailed = true;
    }
  };
}

export interface MetricsFlags extends HeartbeatFlags {
  readonly metrics?: { readonly host: string; readonly port: number };
  readonly metricsName: readonly string[];
}

export function addMetricsFlags(command: Command): Command {
  return command
    .option(
      "--metrics <[host:]port>",
      "serve /metrics and /healthz; the host is 127.0.0.1 if left out, and port 0 picks a free one",
      listeningAddress,
    )
    .option("--metrics-name <name>", "accept requests with this host name, too (repeatable)", collect, [])
    .option(...heartbeatOption);
}

/** @returns null without metrics @throws CliError */
export function metricsOf({ metrics, metricsName }: MetricsFlags) {
  if (metrics !== undefined) return { ...metrics, names: metricsName };
  if (metricsName.length === 0) return null;
  throw new CliError(
    "usage",
    "--metrics-name needs --metrics.",
    "Add --metrics PORT, or leave --metrics-name out.",
  );
}

/** `9401`, `0.0.0.0:9401` or `[::]:9401`. */
function listeningAddress(value: string) {
  const [, bracketed, plain, port = ""] = /^(?:(?:\[([^\]]+)\]|([^:]+)):)?(\d{1,5})$/.exec(value) ?? [];
  if (port === "") throw new InvalidArgumentError("It must be a port, or HOST:PORT.");
  return { host: bracketed ?? plain ?? "127.0.0.1", port: portNumber(port) };
}
