/** The content of one origin by request target, cached. */
import { accountEnvelope } from "../accounts/account-envelopes.ts";
import type { Credential } from "../accounts/credentials.ts";
import type { Scope } from "../accounts/users.ts";
import type { Addresses } from "../resources/addresses.ts";
import { catalogueEnvelope } from "../resources/catalogue.ts";
import {
  isAccountKind,
  type Paging,
  type Resource,
  type ResourceKind,
  scopeByKind,
} from "../resources/resource.ts";
import {
  createView,
  docsUrl,
  type JsonObject,
  picturePrefix,
  type SentEnvelope,
  type View,
  type ViewSettings,
} from "../resources/view.ts";
import { type Content, createContent, type EtagStyle } from "./content.ts";
import { createPicture } from "./picture.ts";
import { jsonReply } from "./reply.ts";

export interface SiteSettings {
  readonly view: ViewSettings;
  readonly addresses: Addresses;
  readonly paging: Paging;
  readonly etagStyle: EtagStyle;
  readonly unauthorizedStatus: number;
}

export interface Found {
  /** Null for a target that cannot exist. */
  readonly kind: ResourceKind | null;
  readonly content: Content;
}

export interface Site {
  readonly view: View;
  /**
   * @param target path and query
   * @param base of the `rate_limit` resource
   */
  readonly find: (target: string, credential: Credential, base: JsonObject) => Found;
  /** The correct envelope of another page of the catalogue. */
  readonly envelopeAt: (url: string) => SentEnvelope | null;
}

export function createSite(settings: SiteSettings, origin: string): Site {
  const { addresses, paging, etagStyle } = settings;
  const view = createView(settings.view, addresses, paging, origin);
  const ready = new Map<string, Found>();

  function findPublic(target: string): Found {
    const resource = locate(addresses, paging, target);
    if (!resource || isAccountKind(resource.kind) || resource.kind === "rate_limit")
      return errorFound(null, 404, notFound);
    const { kind, id, page } = resource;
    const envelope = catalogueEnvelope(view, { kind, id, page });
    if (!envelope) return errorFound(kind, 404, notFound);
    const found = { kind, content: createContent(envelope, etagStyle, false) };
    if (envelope.self === origin + target && etagStyle !== "rotating") ready.set(target, found);
    return found;
  }

  function findPrivate(resource: Resource, { user }: Credential, base: JsonObject): Found | null {
    const { kind } = resource;
    if (kind === "rate_limit") {
      return { kind, content: createContent(rateLimitEnvelope(view, base), etagStyle, true) };
    }
    if (!isAccountKind(kind)) return null;
    if (!user) return notAuthenticated(kind);
    const scope = scopeByKind[kind];
    if (!user.scopes.includes(scope)) return withoutScope(kind, scope);
    const envelope = accountEnvelope(view, user, { ...resource, kind });
    return envelope
      ? { kind, content: createContent(envelope, etagStyle, true) }
      : errorFound(kind, 404, notFound);
  }

  function notAuthenticated(kind: ResourceKind | null): Found {
    const body = { message: "Not authenticated", spec: docsUrl(view, "authentication") };
    return errorFound(kind, settings.unauthorizedStatus, body);
  }

  function withoutScope(kind: ResourceKind, scope: Scope): Found {
    const explained = { message: `The token does not have the scope ${scope}` };
    const { missingScope } = view;
    // Who the user is comes first; the forms concern what the user owns.
    if (kind === "me" || missingScope === "null-link") return errorFound(kind, 403, explained);
    if (missingScope === "not-authenticated") return notAuthenticated(kind);
    const status = Number(missingScope);
    return errorFound(kind, status, status === 404 ? notFound : { message: "Refused" });
  }

  return {
    view,
    find(target, credential, base) {
      const known = ready.get(target);
      if (known) return known;
      if (view.pictures === "here" && target.startsWith(picturePrefix))
        return { kind: null, content: createPicture(target, etagStyle) };
      const resource = locate(addresses, paging, target);
      if (!resource && !credential.user && target.startsWith(addresses.pathOf("me", 0)))
        return notAuthenticated(null);
      return (resource && findPrivate(resource, credential, base)) ?? findPublic(target);
    },
    envelopeAt(url) {
      const body = url.startsWith(`${origin}/`) ? findPublic(url.slice(origin.length)).content.plain : null;
      return body?.status === 200 ? (JSON.parse(body.body.toString()) as SentEnvelope) : null;
    },
  };
}

/** Every 401 names a scheme (RFC 9110, section 15.5.2). */
const authenticateChallenge = ["WWW-Authenticate", 'Bearer realm="sandbox"'];

export const notFound = { message: "Not found" };

export function errorFound(kind: ResourceKind | null, status: number, body: object): Found {
  const challenge = status === 401 ? authenticateChallenge : [];
  const plain = jsonReply(status, body, challenge);
  return { kind, content: { plain, gzipped: () => plain } };
}

/** @returns null unless the target is spelled exactly as in links */
function locate(addresses: Addresses, paging: Paging, target: string): Resource | null {
  const [path = "", query = ""] = target.split("?", 2);
  const place = addresses.find(path);
  const page = paging.pageOf(new URLSearchParams(query));
  return place && page !== null && addresses.pathOf(place.kind, place.id) === path
    ? { ...place, page }
    : null;
}

function rateLimitEnvelope(view: View, base: JsonObject): SentEnvelope {
  return {
    self: view.urlOf("rate_limit", 0),
    rel: "resource",
    spec: null,
    links: {},
    meta: {},
    body: { base },
  };
}
