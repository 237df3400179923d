/** Where this program is installed, and with which settings it runs. Every path is absolute. */
export interface Installation {
  /** The program and its own arguments. */
  readonly command: readonly string[];
  /** The system's user who runs it. */
  readonly user: string;
  readonly dataDir: string;
  /** Files and folders that the scheduled command writes. */
  readonly writes: readonly string[];
  /** Null when not set. */
  readonly baseUrl: string | null;
  /** Null when not set. */
  readonly serviceName: string | null;
  /** Variables that name files with secrets, such as `ARMOIRE_APP_KEY_FILE`, with absolute paths. */
  readonly secretFiles: Readonly<Record<string, string>>;
}

/** A file for a scheduler of the operating system. */
export interface PrintedFile {
  /** Where to install it. */
  readonly path: string;
  /** The whole text of the file. */
  readonly content: string;
}

/** The environment variables of a scheduled command, without secrets. */
export function environmentOf({ dataDir, baseUrl, serviceName }: Installation): [string, string][] {
  return Object.entries({
    ARMOIRE_DATA_DIR: dataDir,
    ARMOIRE_BASE_URL: baseUrl,
    ARMOIRE_SERVICE_NAME: serviceName,
  }).flatMap(([name, value]): [string, string][] => (value === null ? [] : [[name, value]]));
}

/**
 * The same settings as options, for a scheduler without environment variables.
 * @param args the scheduled command: options that it has are left out, and an account has its own service
 */
export function optionsOf(
  { dataDir, baseUrl, serviceName }: Installation,
  args: readonly string[],
): string[] {
  const has = (name: string) => args.some((arg) => arg === name || arg.startsWith(`${name}=`));
  const service = has("--account") ? {} : { "--base-url": baseUrl, "--service-name": serviceName };
  return Object.entries({ "--data-dir": dataDir, ...service }).flatMap(([name, value]) =>
    value === null || has(name) ? [] : [name, value],
  );
}
