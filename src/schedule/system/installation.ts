/** Where this program is installed, and with which settings it runs. Every path is absolute. */
export interface Installation {
  /** The program and its own arguments. */
  readonly command: readonly string[];
  readonly user: string;
  readonly dataDir: string;
  /** Files and folders that the scheduled command writes. */
  readonly writes: readonly string[];
  /** Null when not set. */
  readonly baseUrl: string | null;
  /** Null when not set. */
  readonly serviceName: string | null;
}

/** A file for a scheduler of the operating system. */
export interface PrintedFile {
  /** Where to install it. */
  readonly path: string;
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
