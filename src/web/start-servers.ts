/** Puts the parts of the server together. It is a file of its own so that the library loads Hono with the first server only. */

import { Hono, type MiddlewareHandler } from "hono";
import type { Operators } from "../../jobs/bullmq/operators/open-operators.ts";
import type { Area } from "../../schema/kind.ts";
import type { NewestBackup } from "../accounts/newest-backup.ts";
import type { Point } from "../mirror/points/point.ts";
import { type Clock, systemClock } from "../platform/clock.ts";
import { type ApiOptions, createApi } from "./api/create-api.ts";
import { assets } from "./assets/assets.ts";
import { createDispatcher } from "./dispatch.ts";
import { listen } from "./listen.ts";
import { createEventStreams } from "./live/event-streams.ts";
import { serveMirror } from "./mirrors/open-mirror.ts";
import type { ShownSchedules } from "./page.ts";
import { pages } from "./pages/pages.ts";
import { createSpareProcess } from "./queries/spare-process.ts";
import { guard, needsKeyForAll, queuesPath } from "./security.ts";
import { createAccessKey } from "./session/access-key.ts";
import { serveSessions } from "./session/session-routes.ts";
import { createSessions } from "./session/sessions.ts";
import { createKeptValues, type KeptValuesOptions } from "./values/kept-values.ts";
import type { MirrorOfPages } from "./views/views.ts";

export interface ServerOptions {
  /** The file of the catalogue's mirror. Called again while it returns null. */
  readonly findCatalogue: () => string | null;
  /** The record of the catalogue's allowance. Default: `ledger.sqlite` beside its mirror. */
  readonly ledgerFile?: string;
  /** 0 for any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** What pages show unless their URL names another point. Default: the present. */
  readonly asOf?: Point;
  /** The account whose pages are served to those who have the key. Default: none. */
  readonly account?: AccountSource | null;
  /** The service's own API from the mirrors, on an origin of its own. Default: null, only pages are served. */
  readonly api?: ApiServerOptions | null;
  /** For the page of the schedules. Default: it has none. */
  readonly readSchedules?: () => ShownSchedules;
  /**
   * Shows runs, failures, workers and queues of this Redis: `redis:`, `rediss:`, or the path of a socket. Default: null, none.
   */
  readonly redis?: string | null;
  /** With `redis`: whether those with the key may pause queues, delete jobs and retry resources. Default: false. */
  readonly allowsActions?: boolean;
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Called with errors that are no user's fault. Default: only the page, or the status of a response, shows them. */
  readonly onError?: (text: string) => void;
}

export interface AccountSource {
  /** On this machine. */
  readonly name: string;
  /** The file of its mirror. Called again while it returns null. */
  readonly findMirror: () => string | null;
  readonly readNewestBackup: () => NewestBackup | null;
  /** Those of the account. Default: its pages show none. */
  readonly readSchedules?: () => ShownSchedules;
}

export interface ApiServerOptions
  extends Pick<ApiOptions, "allowedHosts" | "allowance" | "corsOrigins" | "readForecast"> {
  /** 0 for any free port. */
  readonly port: number;
}

/** A running server. */
export interface WebServer {
  /** Of the pages, such as `http://127.0.0.1:8900/`. */
  readonly url: string;
  /** The base URL for clients of the API; null without one. */
  readonly apiUrl: string | null;
  /** What a browser exchanges for a session, as `#key=` behind an address or in a form. */
  readonly key: string;
  /** Whether all pages need the key, because others can reach the server. */
  readonly needsKey: boolean;
  /** Ends all connections, and resolves once nothing listens any more. */
  close(): Promise<void>;
}

/** See `createServer`. @param threadFrom the number of resources from which a thread computes slow values. Default: 10,000 */
export async function startServers(options: ServerOptions, threadFrom?: number): Promise<WebServer> {
  const { host = "127.0.0.1", clock = systemClock, onError = () => {} } = options;
  const { redis = null, allowsActions = false } = options;
  const operators = redis === null ? null : await reachRedis(redis, allowsActions);
  const { ledgerFile } = options;
  const kept = { now: () => clock.now(), ...(threadFrom !== undefined && { threadFrom }) };
  const catalogue = openForPages(options.findCatalogue, "catalogue", {
    ...kept,
    ...(ledgerFile !== undefined && { ledgerFile }),
  });
  const sessions = createSessions(clock);
  const needsKey = needsKeyForAll(host);
  const app = new Hono();
  app.use(guard({ host, allowsActions: operators !== null && allowsActions }));
  for (const { path, type, bytes } of Object.values(assets))
    app.get(path, (context) =>
      context.body(bytes, 200, {
        "content-type": type,
        "cache-control": "public, max-age=31536000, immutable",
      }),
    );
  const session = serveSessions(app, {
    sessions,
    needsKey,
    cookieName: () => `armoire-${pageServer.port}`,
  });
  if (operators !== null) {
    // Their names are those of accounts, too.
    const requireKey: MiddlewareHandler = async (context, next) =>
      session.has(context) ? await next() : await session.refuse(context);
    app.use(queuesPath, requireKey);
    app.use(`${queuesPath}/*`, requireKey);
    app.route(queuesPath, operators.board);
  }
  const streams = {
    mirror: createEventStreams(() => catalogue.mirror.version()),
    shared: createEventStreams(async () => JSON.stringify(await operators?.readOverview(true))),
  };
  app.get("/events/mirror", streams.mirror.open);
  if (operators !== null) app.get("/events/shared", streams.shared.open);
  const account = options.account ?? null;
  const accountMirror = account && openForPages(account.findMirror, "account", kept);
  const spare = createSpareProcess();
  const dispatcher = createDispatcher({
    ...{
      spare,
      catalogue,
      pages,
      clock,
      session,
      onError,
      asOf: options.asOf,
      operators,
      readSchedules: options.readSchedules ?? null,
      isPrivate: needsKey,
    },
    account: account &&
      accountMirror && { ...account, ...accountMirror, readSchedules: account.readSchedules ?? null },
  });
  dispatcher.addRoutes(app);

  const api = options.api
    ? await startApi(options, options.api, {
        host,
        clock,
        onError,
        key: createAccessKey(sessions.key, clock),
      }).catch((error: unknown) => {
        operators?.close();
        throw error;
      })
    : null;
  const pageServer = await listen(app, {
    host,
    port: options.port,
    flag: "--port",
  }).catch(async (error: unknown) => {
    await api?.close();
    operators?.close();
    throw error;
  });
  prepareValues(catalogue, options.asOf);
  return {
    url: `${pageServer.origin}/`,
    apiUrl: api?.url ?? null,
    key: sessions.key,
    needsKey,
    async close() {
      for (const stream of Object.values(streams)) stream.close();
      await pageServer.close();
      await api?.close();
      for (const opened of [catalogue, accountMirror]) {
        opened?.mirror.close();
        opened?.values.close();
      }
      operators?.close();
      spare.close();
    },
  };
}

/** Then a search, or a list of all models, reads each page of the file at most once: half of its time. */
const cacheKibibytes = 8192;

function openForPages(findFile: () => string | null, area: Area, options: KeptValuesOptions): MirrorOfPages {
  const values = createKeptValues(options);
  return { mirror: serveMirror(findFile, { onReplaced: values.clear, cacheKibibytes, area }), values };
}

/** Without a mirror that can be read, the first page says so. */
function prepareValues({ mirror, values }: MirrorOfPages, asOf: Point | undefined): void {
  try {
    mirror.read(asOf, values.prepare);
  } catch {}
}

/** Loaded only when needed. @throws RedisError */
async function reachRedis(redis: string, allowsActions: boolean): Promise<Operators> {
  const { openOperators } = await import("../../jobs/bullmq/operators/open-operators.ts");
  return await openOperators(redis, { path: queuesPath, allowsActions });
}

/** @throws WebError, after closing the mirrors */
async function startApi(
  { findCatalogue, asOf, account }: ServerOptions,
  { port, ...options }: ApiServerOptions,
  common: Pick<ApiOptions, "host" | "key" | "onError"> & { readonly clock: Clock },
) {
  const findAccount = account?.findMirror ?? null;
  const api = createApi({
    findCatalogue,
    findAccount,
    ...(asOf !== undefined && { asOf }),
    ...options,
    ...common,
  });
  try {
    const listening = await listen(api.handlers, { host: common.host, port, flag: "--api-port" });
    return {
      url: listening.origin + api.basePath(),
      async close() {
        await listening.close();
        api.close();
      },
    };
  } catch (error) {
    api.close();
    throw error;
  }
}
