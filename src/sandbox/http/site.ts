/** The content of one origin by request target, cached. */
import { accountEnvelope } from "../accounts/account-envelopes.ts";
import type { AllowanceState } from "../accounts/allowance.ts";
import type { Credential } from "../accounts/credentials.ts";
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
  /** @param target path and query */
  readonly find: (target: string, credential: Credential, allowance: AllowanceState | null) => Found;
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
    if (envelope.self === origin + target) ready.set(target, found);
    return found;
  }

  function findPrivate(
    resource: Resource,
    { user }: Credential,
    allowance: AllowanceState | null,
  ): Found | null {
    const { kind } = resource;
    if (kind === "rate_limit") {
      return { kind, content: createContent(rateLimitEnvelope(view, allowance), etagStyle, true) };
    }
    if (!isAccountKind(kind)) return null;
    if (!user) {
      const body = { message: "Not authenticated", spec: docsUrl(view, "authentication") };
      return errorFound(kind, settings.unauthorizedStatus, body);
    }
    const scope = scopeByKind[kind];
    if (!user.scopes.includes(scope))
      return errorFound(kind, 403, { message: `The token does not have the scope ${scope}` });
    const envelope = accountEnvelope(view, user, { ...resource, kind });
    return envelope
      ? { kind, content: createContent(envelope, etagStyle, true) }
      : errorFound(kind, 404, notFound);
  }

  return {
    view,
    find(target, credential, allowance) {
      const known = ready.get(target);
      if (known) return known;
      if (view.pictures === "here" && target.startsWith(picturePrefix))
        return { kind: null, content: createPicture(target, etagStyle) };
      const resource = locate(addresses, paging, target);
      return (resource && findPrivate(resource, credential, allowance)) ?? findPublic(target);
    },
    envelopeAt(url) {
      const body = url.startsWith(`${origin}/`) ? findPublic(url.slice(origin.length)).content.plain : null;
      return body?.status === 200 ? (JSON.parse(body.body.toString()) as SentEnvelope) : null;
    },
  };
}

const notFound = { message: "Not found" };

function errorFound(kind: ResourceKind | null, status: number, body: object): Found {
  const plain = jsonReply(status, body);
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

function rateLimitEnvelope(view: View, state: AllowanceState | null): SentEnvelope {
  const base = state && { limit: state.limit, remaining: state.remaining, reset: state.resetAt };
  return {
    self: view.urlOf("rate_limit", 0),
    rel: "resource",
    spec: null,
    links: {},
    meta: {},
    body: base ? { base } : {},
  };
}
