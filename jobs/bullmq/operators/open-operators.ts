/**
 * What `armoire serve --redis` shows of a Redis. In: its address. Out: an overview, and Bull Board as pages. It takes no job, and
 * writes nothing unless actions are allowed.
 */
import { Hono } from "hono";
import { cacheFor, withTimeout } from "../async.ts";
import { createPing, createSnapshotReader, redisTimeoutMillis } from "../dashboard/redis-snapshot.ts";
import { createQueueOpener } from "../queues.ts";
import { connectRedis } from "../redis.ts";
import { isSafeAction } from "./actions.ts";
import { type BoardOptions, openBoard } from "./board.ts";
import { type Overview, readOverview, withoutAccounts } from "./overview.ts";

export interface Operators {
  /** Without user and password. */
  readonly address: string;
  /** @returns null while Redis does not respond @param withAccounts default: only what belongs to catalogues */
  readOverview(withAccounts?: boolean): Promise<Overview | null>;
  /** To be mounted at the path of the board. It sets its own policy of content. */
  readonly board: Hono;
  close(): void;
}

/** All open pages share one reading in this time. */
const cacheMillis = 2000;
/** For all that an overview reads. */
const timeoutMillis = 2 * redisTimeoutMillis;

/**
 * @param redis `redis:`, `rediss:`, or the path of a socket
 * @throws RedisError
 */
export async function openOperators(redis: string, options: BoardOptions): Promise<Operators> {
  const { client, shownAs, end } = await connectRedis(redis);
  const openQueues = createQueueOpener(client);
  const readSnapshot = createSnapshotReader(client);
  const isResponding = createPing(client);
  const board = openBoard(options);
  const pages = new Hono();
  pages.use(async (context, next) => {
    const { method, path } = context.req;
    if (!["GET", "HEAD"].includes(method) && !isSafeAction(path.slice(options.path.length))) {
      const message =
        "This action would send requests that no sync has reserved. Run `armoire sync` instead.";
      // Bull Board's page shows `message`.
      return context.json({ error: message, message }, 403);
    }
    if (!(await isResponding())) return context.text(`Redis at ${shownAs} does not respond.\n`, 503);
    board.show(openQueues((await readSnapshot()).queues));
    await next();
    context.res.headers.set("content-security-policy", boardPolicy);
    if (!context.res.headers.get("content-type")?.startsWith("text/html")) return;
    context.res = new Response(withoutFonts(await context.res.text()), context.res);
  });
  pages.route("/", board.pages);
  const readAll = cacheFor(cacheMillis, async () => {
    const snapshot = await readSnapshot();
    return await readOverview(client, snapshot, openQueues(snapshot.queues));
  });
  return {
    address: shownAs,
    async readOverview(withAccounts = false) {
      const overview = (await isResponding()) ? await withTimeout(timeoutMillis, readAll) : null;
      return overview === null || withAccounts ? overview : withoutAccounts(overview);
    },
    board: pages,
    close: end,
  };
}

/** Nothing from other origins. Its components set styles inline, and it has a `base` element. */
const boardPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Its page asks another host for fonts, which the policy refuses with an error in the console. */
const withoutFonts = (page: string): string => page.replace(/<link href="https:[^<>]*>/g, "");
