/** The environment variables that Armoire reads, each with one line of help. */
export const environmentVariables: Readonly<Record<string, string>> = {
  ARMOIRE_DATA_DIR: "the data directory, as --data-dir",
  ARMOIRE_BASE_URL: "the service's root, as --base-url",
  ARMOIRE_SERVICE_NAME: "the prefix of the service's own fields, as --service-name",
  ARMOIRE_APP_KEY: "the application's key",
  ARMOIRE_APP_SECRET: "the application's secret",
  ARMOIRE_APP_KEY_FILE: "a private file with the application's key",
  ARMOIRE_APP_SECRET_FILE: "a private file with the application's secret",
  ARMOIRE_TOKEN: "a user's token, for `armoire account add`",
  ARMOIRE_TOKEN_FILE: "a private file with a user's token",
  ARMOIRE_BACKUP_PASSPHRASE: "the passphrase of encrypted backups",
  ARMOIRE_REDIS_URL: "the address of Redis, as --redis; may contain a password",
  ARMOIRE_REDIS_URL_FILE: "a private file with the address of Redis",
  ARMOIRE_TELEMETRY: "1: with Redis, make OpenTelemetry spans of jobs; needs the package bullmq-otel",
  PAGER: "the program that shows long output on a terminal; empty: none (default: less)",
  COLUMNS: "the width of a terminal that shows tables",
};
