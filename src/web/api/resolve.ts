/**
 * What the API answers for a URL, from a catalogue mirror and an account's. In: a URL of the service, and whether the client
 * has the key of the account. Out: content, or why there is none. Without the key, an answer shows nothing of the account:
 * its mirror is not even read.
 */
import type { HeldContent, Lookup, MirrorLookup } from "./mirror-lookup.ts";

export interface FoundContent {
  readonly is: "content";
  readonly content: HeldContent;
  /** The mirror that has it. */
  readonly mirror: MirrorLookup;
  readonly isPrivate: boolean;
}

export type Answer =
  | FoundContent
  /** @param to the URL of the service that redirects led to */
  | { readonly is: "redirect"; readonly to: string; readonly isPrivate: boolean }
  | { readonly is: "rate-limit" }
  | { readonly is: "gone"; readonly since: string | null }
  | { readonly is: "pending"; readonly kind: string | null }
  | { readonly is: "not-authenticated" }
  | { readonly is: "refused"; readonly kind: string }
  | { readonly is: "unknown" };

export interface Mirrors {
  /** Null before its first sync. */
  readonly catalogue: MirrorLookup | null;
  /** Null if no account is served. */
  readonly account: { readonly mirror: MirrorLookup | null } | null;
}

/** Where redirects led: final URL to the URL of the resource that they began at. */
export type FinalUrls = Map<string, string>;

const maxFinalUrls = 10_000;

/** An answer of one mirror. */
type OwnAnswer =
  | Exclude<Answer, { readonly is: "not-authenticated" }>
  /** The resource is in the other area, whose mirror may have it. */
  | { readonly is: "elsewhere" };

export function resolveUrl(url: string, mirrors: Mirrors, hasKey: boolean, finalUrls: FinalUrls): Answer {
  const { catalogue, account } = mirrors;
  const own = account?.mirror && hasKey ? answerFrom(account.mirror, url, true, finalUrls) : null;
  // What an account's mirror knows of the catalogue are only links into it.
  if (own !== null && own.is !== "elsewhere" && own.is !== "unknown") return own;
  const shared = catalogue === null ? null : answerFrom(catalogue, url, false, finalUrls);
  if (shared !== null && shared.is !== "elsewhere" && shared.is !== "unknown") return shared;
  if (hasKey && account !== null) {
    const isUnknown = own?.is === "unknown" && shared?.is === "unknown";
    return isUnknown ? { is: "unknown" } : { is: "pending", kind: null };
  }
  if (shared === null) return { is: "pending", kind: null };
  // It may be a URL of the account. That there is no such one is private too.
  return shared.is === "elsewhere" || account !== null ? { is: "not-authenticated" } : shared;
}

function answerFrom(mirror: MirrorLookup, url: string, isPrivate: boolean, finalUrls: FinalUrls): OwnAnswer {
  const contentOf = (content: HeldContent): FoundContent => ({ is: "content", content, mirror, isPrivate });
  const found = mirror.find(url);
  if (found.outcome === "held" && (found.finalUrl === null || found.finalUrl === url))
    return contentOf(found);
  const redirected = contentAt(mirror, url, found, finalUrls);
  if (redirected !== null) return contentOf(redirected);
  switch (found.outcome) {
    case "held": {
      const to = found.finalUrl ?? url;
      if (finalUrls.size >= maxFinalUrls) finalUrls.clear();
      finalUrls.set(to, url);
      return { is: "redirect", to, isPrivate };
    }
    case "gone":
      return { is: "gone", since: found.since };
    case "pending":
    case "refused":
      return { is: found.outcome, kind: found.kind };
    case "elsewhere":
      return found.kind === "rate_limit" ? { is: "rate-limit" } : { is: "elsewhere" };
    case "unknown":
      return mirror.isUnfollowed(url) ? { is: "pending", kind: null } : { is: "unknown" };
  }
}

/** The content of another resource, whose redirects led to this URL. */
function contentAt(
  mirror: MirrorLookup,
  url: string,
  { outcome }: Lookup,
  finalUrls: FinalUrls,
): HeldContent | null {
  const begin = finalUrls.get(url);
  if (begin === undefined) return outcome === "unknown" ? mirror.findByFinalUrl(url) : null;
  const found = mirror.find(begin);
  return found.outcome === "held" && found.finalUrl === url ? found : null;
}
