/** Leads from a request to a page or its rows: the point in time, the read transaction, and the pages for errors. */
import type { Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type { TextFormat } from "../../exports/formats/table.ts";
import type { Operators } from "../../jobs/bullmq/operators/open-operators.ts";
import { type Point, parsePoint, pointContext } from "../mirror/points/point.ts";
import { messageOf } from "../platform/errors.ts";
import { isLocked } from "../platform/process-lock.ts";
import { describeError, retryAfterSeconds } from "./errors.ts";
import type { ServedMirror } from "./mirrors/open-mirror.ts";
import type { AnyPage, Page, PageRows, QueryPage, QueryPageRequest } from "./page.ts";
import { nothingHeld } from "./pages/nothing-held.ts";
import { problem, wholenessHeader } from "./parts/states.ts";
import { readShownPicture } from "./parts/wardrobe/pictures.ts";
import { createAnswers, createStatementSlots } from "./queries/answers.ts";
import { createKeptAnswers } from "./queries/kept-answers.ts";
import type { SpareProcess } from "./queries/spare-process.ts";
import { splitEnding, streamOf, textOf, textOfAnswer } from "./rows.ts";
import type { PageSessions } from "./session/session-routes.ts";
import { whenComputed } from "./values/kept-values.ts";
import { hasRows, headersOf, parametersOf, type Target, type ViewTarget } from "./views/target.ts";
import { createViews, renderPage, rowsOfPage, type ViewOptions } from "./views/views.ts";

export interface DispatcherOptions extends ViewOptions {
  readonly session: PageSessions;
  /** Null without a Redis. */
  readonly operators: Pick<Operators, "address" | "readOverview"> | null;
  readonly pages: readonly AnyPage[];
  /** For statements. */
  readonly spare: SpareProcess;
  /** Whether no cache may keep the pages. */
  readonly isPrivate: boolean;
  readonly onError: (text: string) => void;
}

/** Rows that are sent at the same time, each with a connection of its own. */
const maxStreams = 16;

const noteRetry = (context: Context): void => context.header("retry-after", String(retryAfterSeconds));

export function createDispatcher(options: DispatcherOptions): { addRoutes(app: Hono): void } {
  const { account, session, operators, clock, onError } = options;
  const pages = options.pages.filter(
    (page) => (page.area !== "account" || account !== null) && (!("isShared" in page) || operators !== null),
  );
  const views = createViews(options, pages);
  const slots = createStatementSlots();
  const keptAnswers = createKeptAnswers(clock.now);
  let streams = 0;

  const respond = (page: AnyPage) => async (context: Context) => {
    const { pathname, searchParams: query } = new URL(context.req.url);
    const ending = hasRows(page) ? splitEnding(pathname) : null;
    const isPrivate = page.area === "account";
    if (isPrivate && !session.has(context)) return session.refuse(context);
    const isStored = !isPrivate && !options.isPrivate && !("isShared" in page);
    context.header("cache-control", isStored ? "private, no-cache" : "no-store");
    try {
      const target = {
        ...{ query, path: ending?.path ?? pathname, asOf: pointIn(query) },
        parameters: parametersOf(context, page, ending !== null),
        redis: await readShared(context, page),
      };
      if ("prepare" in page) {
        const request = queryRequestOf(context, page, target);
        if (ending !== null)
          return await respondWithAnswer(context, page, request, { ...target, page }, ending.format);
        const render = await page.prepare(request);
        return await respondWithPage(context, { ...target, page: { ...page, render } }, true);
      }
      return ending === null
        ? await respondWithPage(context, { ...target, page }, page.rows !== undefined)
        : await whenComputed(() => respondWithRows(context, { ...target, page }, ending.format));
    } catch (error) {
      return respondWithError(context, error, ending?.format ?? null, page);
    }
  };

  const readShared = async (context: Context, page: AnyPage) => {
    if (operators === null) return null;
    const overview = "isShared" in page ? await operators.readOverview(session.has(context)) : null;
    return { address: operators.address, overview };
  };

  const pointIn = (query: URLSearchParams): Point | undefined => {
    const text = query.get("as-of");
    if (text === null || text.trim() === "") return options.asOf;
    const { timeZone } = pointContext();
    return parsePoint(text, { now: clock.now(), timeZone });
  };

  /** Before a statement runs: there is a mirror, and it had a run at that point. */
  const queryRequestOf = (
    context: Context,
    page: QueryPage,
    target: Omit<Target, "page">,
  ): QueryPageRequest => {
    const mirror = views.mirrorOf(page);
    const { file, area } = mirror.read(target.asOf, (reader) => ({
      file: reader.file,
      area: reader.identity.area,
    }));
    const site = context.req.header("sec-fetch-site") ?? "none";
    return {
      ...target,
      ...{ file, area, now: clock.now(), isFromHere: site === "none" || site === "same-origin" },
      answers: createAnswers(slots, options.spare, context.req.raw.signal),
      keepAnswer: (key, ask) =>
        keptAnswers.find(`${file} ${key}`, { version: mirror.dataVersion(), isWritten: isLocked(file) }, ask),
    };
  };

  const respondWithPage = async (context: Context, target: Target, canHaveRows: boolean) => {
    const result = await views.read(target, (view) => {
      const content = renderPage(target, view);
      if ("redirect" in content) return content;
      const rows = canHaveRows && content.hasRows !== false;
      return { ...content, text: views.frame(view, { ...content, hasRows: rows }) };
    });
    if ("redirect" in result) return context.redirect(result.redirect, 302);
    if (result.status === 503) noteRetry(context);
    return context.html(result.text, result.status ?? 200);
  };

  const respondWithRows = (context: Context, target: Target, format: TextFormat) => {
    if (streams >= maxStreams) {
      const text = `At most ${maxStreams} downloads run at the same time. Try again in a moment.\n`;
      return context.text(text, 503, { "retry-after": String(retryAfterSeconds) });
    }
    const { view, close: closeMirror } = views.open(target);
    let rows: PageRows | null;
    let coverage: Readonly<Record<string, string>>;
    try {
      rows = rowsOfPage(target, view);
      coverage = rows?.from === undefined ? {} : wholenessHeader(view, rows.from);
    } catch (error) {
      closeMirror();
      throw error;
    }
    const headers = { ...headersOf(rows?.name ?? "rows", format), ...coverage };
    const close = () => {
      rows?.close?.();
      closeMirror();
    };
    if (rows === null || context.req.method === "HEAD") {
      close();
      return rows === null ? notFound(context) : context.body(null, 200, headers);
    }
    streams += 1;
    const end = () => {
      streams -= 1;
      close();
    };
    return context.body(streamOf(textOf(rows, format), end), 200, headers);
  };

  const respondWithAnswer = async (
    context: Context,
    page: QueryPage,
    request: QueryPageRequest,
    target: ViewTarget,
    format: TextFormat,
  ) => {
    const rows = await page.readRows(request);
    const { mirror: tables } = rows.tables;
    const coverage =
      tables.length === 0 ? {} : await views.read(target, (view) => wholenessHeader(view, tables));
    const headers = { ...headersOf(rows.name, format), ...coverage };
    if (context.req.method === "HEAD") {
      rows.close();
      return context.body(null, 200, headers);
    }
    return context.body(streamOf(textOfAnswer(rows, format), rows.close), 200, headers);
  };

  const respondWithPicture = (mirror: ServedMirror) => (context: Context<object, "/me/media/:name">) => {
    if (!session.has(context)) return session.refuse(context);
    context.header("cache-control", "no-store");
    try {
      const file = mirror.read(undefined, (reader) => reader.file);
      const picture = readShownPicture(file, context.req.param("name"));
      if (picture === null) return notFound(context);
      return context.body(new Uint8Array(picture.bytes), 200, { "content-type": picture.type });
    } catch (error) {
      return respondWithError(context, error, null);
    }
  };

  const respondWithError = (
    context: Context,
    error: unknown,
    format: TextFormat | null,
    page?: Pick<Page, "area">,
  ) => {
    const { status, title, message, hint, code } = describeError(error);
    if (status === 500) onError(messageOf(error));
    if (status === 503) noteRetry(context);
    if (format === "json")
      return context.json({ error: { code, message, hint } }, status === 200 ? 404 : status);
    if (format !== null) return context.text(`${message} ${hint}\n`, status === 200 ? 404 : status);
    const body =
      status === 200 ? nothingHeld(page?.area === "account" ? account : null) : problem(title, message, hint);
    return context.html(views.bareFrame(new URL(context.req.url), title, body), status);
  };

  const notFound = (context: Context) =>
    context.html(
      views.bareFrame(
        new URL(context.req.url),
        "Not found",
        problem(
          "There is no such page",
          "Nothing is at this address.",
          "The search finds brands and models by their names.",
        ),
      ),
      404,
    );

  return {
    addRoutes(app) {
      for (const page of pages) {
        app.get(page.path, respond(page));
        // A parameter at the end takes the ending with it.
        if (!hasRows(page) || page.path.slice(page.path.lastIndexOf("/")).includes(":")) continue;
        for (const format of ["csv", "ndjson", "json"]) app.get(`${page.path}.${format}`, respond(page));
      }
      if (account !== null) app.get("/me/media/:name", respondWithPicture(account.mirror));
      app.notFound(notFound);
      app.onError((error, context) =>
        error instanceof HTTPException ? error.getResponse() : respondWithError(context, error, null),
      );
    },
  };
}
