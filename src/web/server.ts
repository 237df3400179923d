/**
 * The server of `armoire serve`: mirrors as pages, and as the service's own API. In: where the mirrors are, and where to
 * listen. Out: an HTTP server for each. It only reads files, and never connects to the service.
 *
 * A request passes `security.ts`; `dispatch.ts` reads the mirror once for a page of `pages/`, and `rows.ts` sends the rows
 * of a page in other formats. To add a page, add a file to `pages/` and its name to `pages/pages.ts`; `page.ts` says what a
 * page is.
 */
import type { ServerOptions, WebServer } from "./start-servers.ts";

/**
 * Starts the server; only then are its libraries loaded.
 * @throws WebError if it cannot listen; MirrorError and PointError of `createApi`
 */
export async function createServer(options: ServerOptions): Promise<WebServer> {
  const { startServers } = await import("./start-servers.ts");
  return await startServers(options);
}
