/** What a unit or a crontab has to know of where this program is. */

/** This program, here. Every path is absolute. */
export interface Installation {
  /** How it is started. */
  readonly command: readonly string[];
  readonly user: string;
  readonly dataDir: string;
  /** What it writes into. */
  readonly writes: readonly string[];
  /** Null where they are not set. */
  readonly baseUrl: string | null;
  readonly serviceName: string | null;
}

export interface PrintedFile {
  /** Where it belongs. */
  readonly path: string;
  readonly content: string;
}
