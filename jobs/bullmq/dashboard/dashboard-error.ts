/** The dashboard cannot be where it was wanted. */
export class DashboardError extends Error {
  override readonly name = "DashboardError";
  readonly hint: string;

  constructor(host: string, port: number, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`The dashboard cannot listen on ${host} port ${port}: ${why}.`, { cause });
    const isForeign = cause instanceof Error && "code" in cause && cause.code === "EADDRNOTAVAIL";
    this.hint = isForeign
      ? "Give an address of this machine to --dashboard-host."
      : "Choose another --dashboard port, or 0 for any free one.";
  }
}
