/**
 * The service: a request comes in as plain data; a reply goes out with its log entry. It knows nothing of sockets. The
 * order is: find the resource, refuse if the allowance is used up, apply a fault if one is due, else reply "not
 * modified" if it applies; then count.
 */
import type { Allowance, AllowanceState, SpentResponse } from "../accounts/allowance.ts";
import { type Credential, noCredential, readQueryCredential } from "../accounts/credentials.ts";
import type { FaultPlan } from "../faults/fault-rules.ts";
import { docsUrl, type View } from "../resources/view.ts";
import { type Conditions, createModificationTimes, isNotModified, notModified } from "./content.ts";
import { crossOriginHeaders, preflightReply } from "./cross-origin.ts";
import { createEmptiedLists } from "./emptied-lists.ts";
import { jsonReply, type Reply, withHeader } from "./reply.ts";
import type { Observation } from "./request-log.ts";
import { createSite, errorFound, type Found, notFound, type Site, type SiteSettings } from "./site.ts";

export interface ServiceRequest extends Conditions {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** As the client sent it; URLs in replies begin with it. */
  readonly host: string;
  readonly authorization: string | undefined;
  readonly acceptsGzip: boolean;
  /** The client's address: it has its own allowance for requests without a credential. */
  readonly peer: string;
}

export interface ServiceParts {
  readonly site: SiteSettings;
  readonly authenticate: (authorization: string | undefined) => Credential;
  readonly allowance: Allowance;
  readonly spentResponse: SpentResponse;
  readonly countNotModified: boolean;
  readonly countRoot: boolean;
  readonly emptiedLists: boolean;
  readonly cors: boolean;
  readonly nowMillis: () => number;
  readonly faultPlan: () => FaultPlan;
}

export interface Answer {
  readonly reply: Reply;
  readonly observation: Observation;
}

export interface Service {
  readonly answer: (request: ServiceRequest) => Answer;
  readonly viewAt: (origin: string) => View;
  /** Clears the caches after the world has changed. */
  readonly invalidate: () => void;
}

interface Choice {
  readonly reply: Reply;
  readonly counted: boolean;
  readonly fault?: string;
}

/** Limits the memory that invented host names can take. */
const maxSites = 16;

export function createService(parts: ServiceParts): Service {
  const { allowance, nowMillis } = parts;
  const addModificationTime = createModificationTimes(nowMillis);
  const sites = new Map<string, Site>();
  const lists = parts.emptiedLists
    ? createEmptiedLists({
        pageSize: parts.site.view.pageSize,
        etagStyle: parts.site.etagStyle,
        notFound: errorFound(null, 404, notFound),
      })
    : null;

  function siteAt(origin: string): Site {
    const known = sites.get(origin);
    if (known) return known;
    if (sites.size >= maxSites) sites.clear();
    const site = createSite(parts.site, origin);
    sites.set(origin, site);
    return site;
  }

  function choose(
    request: ServiceRequest,
    site: Site,
    found: Found,
    { holder, state }: { readonly holder: string; readonly state: AllowanceState | null },
  ): Choice {
    const { kind, content } = found;
    const isFreeKind = (kind === "root" && !parts.countRoot) || kind === "rate_limit";
    const isCounted = (isUnchanged: boolean) => !isFreeKind && !(isUnchanged && !parts.countNotModified);
    const send = (reply: Reply, isUnchanged: boolean): Choice => {
      const counted = isCounted(isUnchanged);
      const chosen = isUnchanged ? notModified(reply) : reply;
      return { reply: withClocks(chosen, state, counted), counted };
    };
    if (request.method === "OPTIONS" && parts.cors)
      return { reply: withClocks(preflightReply, null, false), counted: false };
    if (request.method !== "GET" && request.method !== "HEAD") {
      return send(jsonReply(405, { message: "Method not allowed" }, ["Allow", "GET, HEAD"]), false);
    }
    const encoded = request.acceptsGzip ? content.gzipped() : content.plain;
    const hasTime = parts.site.etagStyle === "last-modified" && encoded.status === 200;
    const key = `${holder} ${site.view.origin}${request.target}`;
    const usual = hasTime ? addModificationTime(key, encoded, content.plain.body) : encoded;
    const isUnchanged = isNotModified(usual, request);
    if (state?.remaining === 0 && isCounted(isUnchanged)) {
      return { reply: refuse(site, state), counted: false };
    }
    const url = site.view.origin + request.target;
    const strike = kind && usual.status === 200 ? parts.faultPlan().strike(kind, url) : null;
    if (!strike) return send(usual, isUnchanged);
    const struck = strike.apply(send(content.plain, false).reply, {
      url,
      nowMillis: nowMillis(),
      etagStyle: parts.site.etagStyle,
      envelopeAt: site.envelopeAt,
    });
    const reply = strike.isConditional && isNotModified(struck, request) ? notModified(struck) : struck;
    const counted = isCounted(reply.status === 304);
    const told = reply.status === 304 && !counted ? withAllowance(reply, state, false) : reply;
    return { reply: told, counted, fault: strike.name };
  }

  /** The response when nothing is left. */
  function refuse(site: Site, state: AllowanceState): Reply {
    if (parts.spentResponse !== "explained") {
      const status = parts.spentResponse === "bare-403" ? 403 : 429;
      return withClocks(jsonReply(status, { message: "Come back tomorrow" }), null, false);
    }
    const message = `API rate limit exceeded, see ${docsUrl(site.view, "rate-limit")}`;
    return withClocks(jsonReply(403, { message }), state, false);
  }

  /** The date and allowance headers. */
  function withClocks(reply: Reply, state: AllowanceState | null, counted: boolean): Reply {
    const headers = [...reply.headers, "Date", httpDate(nowMillis())];
    for (const [name, value] of allowance.headersFor(state, counted)) headers.push(name, value);
    return { ...reply, headers };
  }

  /** Replaces the allowance headers. */
  function withAllowance(reply: Reply, state: AllowanceState | null, counted: boolean): Reply {
    const fields = allowance.headersFor(state, counted);
    return fields.reduce((replaced, [name, value]) => withHeader(replaced, name, value), reply);
  }

  return {
    answer(request) {
      const { host } = request;
      const queried = readQueryCredential(request.target);
      const { target } = queried;
      const authorization = request.authorization ?? queried.authorization;
      const site = siteAt(`http://${host}`);
      const credential = authorization === undefined ? noCredential : parts.authenticate(authorization);
      const holder = credential.name === "none" ? `none ${request.peer}` : credential.name;
      const state = allowance.stateOf(holder);
      const full = site.find(target, credential, allowance.baseOf(state));
      const found = lists?.find(target, holder, full) ?? full;
      const { reply, counted, fault } = choose({ ...request, target }, site, found, { holder, state });
      if (counted) allowance.spend(holder);
      if (fault === undefined && (reply.status === 200 || reply.status === 304))
        lists?.noteSent(target, holder, found);
      const observation: Observation = {
        timeMillis: nowMillis(),
        method: request.method,
        url: site.view.origin + target,
        status: reply.status,
        counted,
        credential: credential.name,
        conditional: (request.ifNoneMatch ?? request.ifModifiedSince) !== undefined,
        ...(fault !== undefined && { fault }),
      };
      const headers = parts.cors ? [...reply.headers, ...crossOriginHeaders] : reply.headers;
      return { reply: { ...reply, headers }, observation };
    },
    viewAt: (origin) => siteAt(origin).view,
    invalidate: () => sites.clear(),
  };
}

let lastDate = { second: Number.NaN, text: "" };

/** Formatting a date takes longer than the rest of a cached reply, so it is cached for a second. */
function httpDate(nowMillis: number): string {
  const second = Math.floor(nowMillis / 1_000);
  if (second !== lastDate.second) lastDate = { second, text: new Date(second * 1_000).toUTCString() };
  return lastDate.text;
}
