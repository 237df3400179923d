/**
 * The service's own API, from mirrors. In: requests as a client of the service sends them. Out: the bodies that the service
 * sent, with this server in place of the service in their URLs. It is read-only and never connects to the service. The rules
 * and their reasons are in decision 36.
 */
import { type Context, Hono } from "hono";
import { isRecord } from "../../../schema/envelope.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { ArmoireError } from "../../platform/errors.ts";
import { isLoopback } from "../../platform/network/ip-class.ts";
import type { AccessKey } from "../session/access-key.ts";
import { type AllowanceOptions, createAllowance } from "./allowance.ts";
import { clientOf, createHostCheck, crossOrigin, type RequestAddress, splitUrl } from "./client.ts";
import {
  type Conditions,
  contentResponse,
  createKeptContent,
  createRewriters,
  hasBody,
  isNotModified,
  notModifiedResponse,
  readyContent,
  stateOf,
} from "./content-response.ts";
import type { MirrorLookup } from "./mirror-lookup.ts";
import { type MirrorOptions, openMirrors } from "./open-mirrors.ts";
import { type FinalUrls, type FoundContent, type Mirrors, resolveUrl } from "./resolve.ts";
import * as problems from "./responses.ts";
import { type Problem, problemResponse, rateLimitResponse, redirectResponse } from "./responses.ts";
import { createRetryAfter, type ReadForecast } from "./retry-after.ts";

export interface ApiOptions extends MirrorOptions {
  /** Opens the account; and everything, on another address than loopback. */
  readonly key: AccessKey;
  /** The address that the server listens on: requests for other host names are refused. */
  readonly host: string;
  /** Further host names that requests may have. Default: none. */
  readonly allowedHosts?: readonly string[];
  /** Default: null, requests are not limited. */
  readonly allowance?: AllowanceOptions | null;
  /** Origins whose pages may read responses; `*` for any. Default: none. */
  readonly corsOrigins?: readonly string[];
  /** The forecast of the plan, for `Retry-After`. Default: null, no plan. */
  readonly readForecast?: ReadForecast | null;
  readonly clock?: Clock;
}

interface ApiRequest extends RequestAddress, Conditions {
  readonly method: string;
  /** Whether it has the key. */
  readonly isUser: boolean;
}

export interface Api {
  readonly app: Hono;
  /** Where the service's root is, as `/` or `/v0/`. */
  basePath(): string;
  close(): void;
}

/** @throws MirrorError, PointError: when an existing mirror cannot be used, or has no such point */
export function createApi(options: ApiOptions): Api {
  const { key, host, allowedHosts = [], corsOrigins = [], readForecast = null } = options;
  const { clock = systemClock, allowance: allowanceOptions = null } = options;
  const mirrors = openMirrors(options);
  const allowance = createAllowance(allowanceOptions, clock.now);
  const retryAfter = createRetryAfter(readForecast, clock.now);
  const rewriterOf = createRewriters();
  const finalUrls: FinalUrls = new Map();
  const isAcceptedHost = createHostCheck(host, allowedHosts);
  const needsKey = !isLoopback(host);
  const hasAccount = (options.findAccount ?? null) !== null;
  const vary = hasAccount || needsKey ? "Authorization" : null;
  const kept = createKeptContent();

  const bodyOf = ({ content, mirror }: FoundContent, origin: string): Buffer =>
    rewriterOf(mirror.origin, origin).rewriteBody(mirror.readBody(content));

  let root: { readonly sha256: Buffer; readonly origin: string; readonly spec: string | null } | null = null;
  /** The page about the service that its root names. Errors of the service name a page too. */
  const specOf = (mirror: MirrorLookup | null, origin: string): string | null => {
    const content = mirror?.find(mirror.baseUrl);
    if (!mirror || content?.outcome !== "held") return null;
    const { sha256 } = content;
    if (root?.origin !== origin || !root.sha256.equals(sha256)) {
      const body = bodyOf({ is: "content", content, mirror, isPrivate: false }, origin);
      root = { sha256, origin, spec: specIn(body) };
    }
    return root.spec;
  };

  /** Null if the mirrors must be read: the content is not kept, or the request gets something else. */
  const respondWithKept = (request: ApiRequest, version: string): Response | null => {
    const { method, origin, target, isUser } = request;
    // The account's mirror may have its own content of the same address.
    if (isUser && hasAccount) return null;
    if (!isAcceptedHost(request.hostHeader) || !isRead(method) || (needsKey && !isUser)) return null;
    const content = kept.find(version, origin, target);
    if (content === undefined) return null;
    const holder = isUser ? "user" : "none";
    const state = allowance.stateOf(holder);
    if (isNotModified(content, request)) return notModifiedResponse(content, false, vary, state);
    if (!hasBody(content)) return null;
    if (content.kind === rootKind) return contentResponse(content, state);
    return state.remaining === 0 ? null : contentResponse(content, allowance.spend(holder));
  };

  const respond = (request: ApiRequest, mirrors: Mirrors, version: string): Response => {
    const { origin, target, isUser } = request;
    const holder = isUser ? "user" : "none";
    const fail = (problem: Problem, isCounted = true): Response => {
      const state = isCounted ? allowance.spend(holder) : allowance.stateOf(holder);
      return problemResponse(problem, specOf(mirrors.catalogue, origin), state);
    };
    if (!isAcceptedHost(request.hostHeader)) return fail(problems.otherHost, false);
    if (!isRead(request.method)) return fail(problems.notAllowed, false);
    if (needsKey && !isUser) return fail(problems.notAuthenticated);

    const service = mirrors.catalogue ?? mirrors.account?.mirror ?? null;
    const url = service === null ? target : service.origin + target;
    const answer = resolveUrl(url, mirrors, isUser, finalUrls);
    const state = allowance.stateOf(holder);
    if (answer.is === "rate-limit") return rateLimitResponse(origin + target, state);
    if (answer.is === "redirect")
      return redirectResponse(answer.to.slice(service?.origin.length), answer.isPrivate, state);
    const found = answer.is === "content" ? stateOf(answer) : null;
    if (answer.is === "content" && found !== null && isNotModified(found, request)) {
      if (!answer.isPrivate) kept.keep(version, origin, target, found);
      return notModifiedResponse(found, answer.isPrivate, vary, state);
    }
    const isFree = answer.is === "content" && answer.content.kind === rootKind;
    if (state.remaining === 0 && !isFree) return fail(problems.spent(state), false);
    switch (answer.is) {
      case "content": {
        const rewriter = rewriterOf(answer.mirror.origin, origin);
        const content = readyContent(answer, bodyOf(answer, origin), rewriter, vary);
        if (!answer.isPrivate) kept.keep(version, origin, target, content);
        return contentResponse(content, isFree ? state : allowance.spend(holder));
      }
      case "gone":
        return fail(problems.gone(answer.since));
      case "pending":
        return fail(problems.notHeld(retryAfter(answer.kind)));
      case "refused":
        return fail(problems.withoutScope(answer.kind));
      case "not-authenticated":
        return fail(problems.notAuthenticated);
      case "unknown":
        return fail(problems.notFound);
    }
  };

  const handle = ({ req }: Context): Response | Promise<Response> => {
    const client = clientOf(req.header("authorization"), key);
    const isUser = client === "user";
    const request = {
      ...splitUrl(req.url),
      method: req.method,
      isUser,
      ifNoneMatch: req.header("if-none-match"),
      ifModifiedSince: req.header("if-modified-since"),
    };
    const version = mirrors.version();
    const response =
      respondWithKept(request, version) ?? mirrors.read(isUser, (held) => respond(request, held, version));
    if (client !== "wrong-key" || response.status !== problems.notAuthenticated.status) return response;
    return key.pause().then(() => response);
  };

  const app = new Hono();
  if (corsOrigins.length > 0) app.use(crossOrigin(corsOrigins, isAcceptedHost));
  app.all("*", handle);
  app.onError((error) => {
    if (!(error instanceof ArmoireError)) throw error;
    return problemResponse(problems.unreadable, null, allowance.stateOf("none"));
  });
  const basePath = () =>
    mirrors.read(true, ({ catalogue, account }) => {
      const mirror = catalogue ?? account?.mirror ?? null;
      return mirror === null ? "/" : new URL(mirror.baseUrl).pathname;
    });
  return { app, basePath, close: mirrors.close };
}

/** Requests of it are not counted. */
const rootKind = "root";

const isRead = (method: string): boolean => method === "GET" || method === "HEAD";

function specIn(body: Buffer): string | null {
  const root: unknown = JSON.parse(body.toString());
  return isRecord(root) && typeof root.spec === "string" ? root.spec : null;
}
