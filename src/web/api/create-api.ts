/**
 * The service's own API, from mirrors. In: requests as a client of the service sends them. Out: the bodies that the service
 * sent, with this server in place of the service in their URLs. It is read-only and never connects to the service. The rules
 * and their reasons are in decision 36.
 */
import { isRecord } from "../../../schema/json.ts";
import { type Clock, systemClock } from "../../platform/clock.ts";
import { ArmoireError } from "../../platform/errors.ts";
import { isLoopback } from "../../platform/network/ip-class.ts";
import { describeError } from "../errors.ts";
import type { Handlers } from "../listen.ts";
import type { AccessKey } from "../session/access-key.ts";
import { type AllowanceOptions, createAllowance } from "./allowance.ts";
import { clientOf, createHandlers, createHostCheck, crossOrigin, type Received } from "./client.ts";
import {
  contentReply,
  createKeptContent,
  createRewriters,
  hasBody,
  isNotModified,
  notModifiedReply,
  readyContent,
  stateOf,
} from "./content-response.ts";
import type { MirrorLookup } from "./mirror-lookup.ts";
import { type MirrorOptions, openMirrors } from "./open-mirrors.ts";
import { type FinalUrls, type FoundContent, type Mirrors, resolveUrl } from "./resolve.ts";
import * as problems from "./responses.ts";
import { type Problem, problemReply, type Reply, rateLimitReply, redirectReply } from "./responses.ts";
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
  /** Called with errors that are no client's fault. Default: only the status of the response shows them. */
  readonly onError?: (text: string) => void;
}

interface ApiRequest extends Omit<Received, "authorization"> {
  /** Whether it has the key. */
  readonly isUser: boolean;
}

export interface Api {
  readonly handlers: Handlers;
  /** Where the service's root is, as `/` or `/v0/`. */
  basePath(): string;
  close(): void;
}

/** @throws MirrorError, PointError: when an existing mirror cannot be used, or has no such point */
export function createApi(options: ApiOptions): Api {
  const { key, host, allowedHosts = [], corsOrigins = [], readForecast = null } = options;
  const { clock = systemClock, allowance: allowanceOptions = null, onError = () => {} } = options;
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

  const bodyOf = ({ content, mirror }: FoundContent, origin: string): string =>
    rewriterOf(mirror.origin, origin).rewriteBody(mirror.readBody(content));

  let root: { readonly hash: string; readonly origin: string; readonly spec: string | null } | null = null;
  /** The page about the service that its root names. Errors of the service name a page too. */
  const specOf = (mirror: MirrorLookup | null, origin: string): string | null => {
    const content = mirror?.find(mirror.baseUrl);
    if (!mirror || content?.outcome !== "held") return null;
    const { hash } = content;
    if (root?.origin !== origin || root.hash !== hash) {
      const body = bodyOf({ is: "content", content, mirror, isPrivate: false }, origin);
      root = { hash, origin, spec: specIn(body) };
    }
    return root.spec;
  };

  /** Null if the mirrors must be read: the content is not kept, or the request gets something else. */
  const respondWithKept = (request: ApiRequest, version: string): Reply | null => {
    const { method, origin, target, isUser } = request;
    // The account's mirror may have its own content of the same address.
    if (isUser && hasAccount) return null;
    if (!isAcceptedHost(request.hostHeader) || !isRead(method) || (needsKey && !isUser)) return null;
    const content = kept.find(version, origin, target);
    if (content === undefined) return null;
    const holder = isUser ? "user" : "none";
    const state = allowance.stateOf(holder);
    if (isNotModified(content, request)) return notModifiedReply(content, false, vary, state);
    if (!hasBody(content)) return null;
    if (content.kind === rootKind) return contentReply(content, state);
    return state.remaining === 0 ? null : contentReply(content, allowance.spend(holder));
  };

  const respond = (request: ApiRequest, mirrors: Mirrors, version: string): Reply => {
    const { origin, target, isUser } = request;
    const holder = isUser ? "user" : "none";
    const fail = (problem: Problem, isCounted = true): Reply => {
      const state = isCounted ? allowance.spend(holder) : allowance.stateOf(holder);
      return problemReply(problem, specOf(mirrors.catalogue, origin), state);
    };
    if (!isAcceptedHost(request.hostHeader)) return fail(problems.otherHost, false);
    if (!isRead(request.method)) return fail(problems.notAllowed, false);
    if (needsKey && !isUser) return fail(problems.notAuthenticated);

    const service = mirrors.catalogue ?? mirrors.account?.mirror ?? null;
    const url = service === null ? target : service.origin + target;
    const answer = resolveUrl(url, mirrors, isUser, finalUrls);
    const state = allowance.stateOf(holder);
    if (answer.is === "rate-limit") return rateLimitReply(origin + target, state);
    if (answer.is === "redirect")
      return redirectReply(answer.to.slice(service?.origin.length), answer.isPrivate, state);
    const found = answer.is === "content" ? stateOf(answer) : null;
    if (answer.is === "content" && found !== null && isNotModified(found, request)) {
      if (!answer.isPrivate) kept.keep(version, origin, target, found);
      return notModifiedReply(found, answer.isPrivate, vary, state);
    }
    const isFree = answer.is === "content" && answer.content.kind === rootKind;
    if (state.remaining === 0 && !isFree) return fail(problems.spent(state), false);
    switch (answer.is) {
      case "content": {
        const rewriter = rewriterOf(answer.mirror.origin, origin);
        const content = readyContent(answer, stateOf(answer), bodyOf(answer, origin), rewriter, vary);
        if (!answer.isPrivate) kept.keep(version, origin, target, content);
        return contentReply(content, isFree ? state : allowance.spend(holder));
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

  const answer = ({ authorization, ...received }: Received): Reply | Promise<Reply> => {
    const client = clientOf(authorization, key);
    const request = { ...received, isUser: client === "user" };
    try {
      const version = mirrors.version();
      const reply =
        respondWithKept(request, version) ??
        mirrors.read(request.isUser, (held) => respond(request, held, version));
      if (client !== "wrong-key" || reply.status !== problems.notAuthenticated.status) return reply;
      return key.pause().then(() => reply);
    } catch (error) {
      if (!(error instanceof ArmoireError)) throw error;
      const { status, title } = describeError(error);
      if (status !== 503) onError(error.message);
      const problem = status === 503 ? problems.notNow(title) : problems.unreadable;
      return problemReply(problem, null, allowance.stateOf("none"));
    }
  };
  const middleware = corsOrigins.length > 0 ? crossOrigin(corsOrigins, isAcceptedHost) : null;
  const basePath = () =>
    mirrors.read(true, ({ catalogue, account }) => {
      const mirror = catalogue ?? account?.mirror ?? null;
      return mirror === null ? "/" : new URL(mirror.baseUrl).pathname;
    });
  return { handlers: createHandlers(answer, middleware, onError), basePath, close: mirrors.close };
}

/** Requests of it are not counted. */
const rootKind = "root";

const isRead = (method: string): boolean => method === "GET" || method === "HEAD";

function specIn(body: string): string | null {
  const root: unknown = JSON.parse(Buffer.from(body, "latin1").toString());
  return isRecord(root) && typeof root.spec === "string" ? root.spec : null;
}
