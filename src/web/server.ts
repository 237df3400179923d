/**
 * The server of `armoire serve`: mirrors as pages, and as the service's own API. In: where the mirrors are, and where to
 * listen. Out: an HTTP server for each. It only reads files, and never connects to the service.
 *
 * A request passes `security.ts`; `dispatch.ts` reads the mirror once for a page of `pages/`, and `rows.ts` sends the rows
 * of a page in other formats. To add a page, add a file to `pages/` and its name to `pages/pages.ts`; `page.ts` says what a
 * page is.
 */
import type { Point } from "../mirror/points/point.ts";
import type { Clock } from "../platform/clock.ts";
import type { ApiOptions } from "./api/create-api.ts";

export interface ServerOptions {
  /** The file of the catalogue's mirror. Called again while it returns null. */
  readonly findCatalogue: () => string | null;
  /** 0 for any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** What pages show unless their URL names another point. Default: the present. */
  readonly asOf?: Point;
  /** The service's own API from the mirrors, on an origin of its own. Default: null, only pages are served. */
  readonly api?: ApiServerOptions | null;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Called with errors that are no user's fault. Default: they are only shown on the page. */
  readonly onError?: (text: string) => void;
}

export interface ApiServerOptions
  extends Pick<ApiOptions, "findAccount" | "allowedHosts" | "allowance" | "corsOrigins" | "readForecast"> {
  /** 0 for any free port. */
  readonly port: number;
}

export interface WebServer {
  /** Of the pages, such as `http://127.0.0.1:8900/`. */
  readonly url: string;
  /** The base URL for clients of the API; null without one. */
  readonly apiUrl: string | null;
  /** What a browser exchanges for a session, as `#key=` behind an address or in a form. */
  readonly key: string;
  /** Whether all pages need the key, because others can reach the server. */
  readonly needsKey: boolean;
  close(): Promise<void>;
}

/**
 * Starts the server; only then are its libraries loaded.
 * @throws WebError if it cannot listen; MirrorError and PointError of `createApi`
 */
export async function createServer(options: ServerOptions): Promise<WebServer> {
  const { startServers } = await import("./start-servers.ts");
  return await startServers(options);
}
