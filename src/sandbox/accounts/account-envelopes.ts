/** The private resources of a user. In: the view and the user. Out: envelopes; null for resources of others. */
import { type AccountKind, scopeByKind } from "../resources/resource.ts";
import {
  docsUrl,
  entity,
  type JsonObject,
  pageOf,
  pictureUrl,
  publicPage,
  type SentEnvelope,
  type View,
  wholeCollection,
} from "../resources/view.ts";
import { alternativeSizes } from "../world/sizing.ts";
import { girthNames, lengthNames, type Measurement, type OwnedBra, type SandboxUser } from "./users.ts";

const envelopes: Record<
  AccountKind,
  (view: View, user: SandboxUser, id: number, page: number) => SentEnvelope | null
> = {
  me: userEnvelope,
  bras: (view, { bras }) => wholeCollection(view.urlOf("bras", 0), bras, {}, (bra) => braSummary(view, bra)),
  bra(view, { bras }, id) {
    const bra = bras.find((own) => own.id === id);
    return bra ? braEnvelope(view, bra) : null;
  },
  measurements: measurementsEnvelope,
  measurement(view, { measurements }, id) {
    const measurement = measurements.find((own) => own.id === id);
    return measurement ? measurementEnvelope(view, measurement) : null;
  },
};

export function accountEnvelope(
  view: View,
  user: SandboxUser,
  { kind, id, page }: { kind: AccountKind; id: number; page: number },
): SentEnvelope | null {
  return envelopes[kind](view, user, id, page);
}

function userEnvelope(view: View, user: SandboxUser): SentEnvelope {
  const linkOf = (kind: "bras" | "measurements"): string | null =>
    view.missingScope !== "null-link" || user.scopes.includes(scopeByKind[kind]) ? view.urlOf(kind, 0) : null;
  const links = { bras: linkOf("bras"), measurements: linkOf("measurements") };
  const sent = entity(view.urlOf("me", 0), null, links, {
    username: user.username,
    ...publicPage(view, `users/${user.id}`),
    user_id: user.id,
    reputation: user.reputation,
    avatar: { medium: pictureUrl(view, `avatars/${user.id}-medium.png`) },
    is_verified: user.isVerified,
    ...(user.scopes.includes("email") && { email: user.email }),
  });
  return { ...sent, spec: docsUrl(view, "user") };
}

function braSummary(view: View, { id, name, size, flags }: OwnedBra): JsonObject {
  const { model } = size;
  const { brand } = model;
  const brandPage = publicPage(view, brand.slug);
  const modelPage = publicPage(view, `${brand.slug}/${model.slug}`);
  const sizePage = publicPage(view, `${brand.slug}/${model.slug}/${encodeURIComponent(size.label)}`);
  return {
    ...publicPage(view, `bras/${id}`),
    name,
    brand: { ...brandPage, href: view.urlOf("brand", brand.id), name: brand.name },
    is_owned: flags.isOwned,
    href: view.urlOf("bra", id),
    model: { ...modelPage, href: view.urlOf("model", model.id), name: model.name },
    size: { ...sizePage, href: view.urlOf("size", size.id), size: size.label },
  };
}

function braEnvelope(view: View, bra: OwnedBra): SentEnvelope {
  const { id, size, flags } = bra;
  const { model } = size;
  const links = {
    size: view.urlOf("size", size.id),
    model: view.urlOf("model", model.id),
    brand: view.urlOf("brand", model.brand.id),
  };
  const lengths = lengthNames.map((name, index) => [name, bra.lengths[index] ?? null] as const);
  return entity(view.urlOf("bra", id), view.urlOf("bras", 0), links, {
    ...publicPage(view, `bras/${id}`),
    name: bra.name,
    brand: model.brand.name,
    model: model.name,
    size: size.label,
    multiple_sizes: alternativeSizes(size.cell, model.brand.system),
    is_owned: flags.isOwned,
    is_custom: flags.isCustom,
    is_altered: flags.isAltered,
    altered_band: flags.alteredBand,
    hooks: bra.hooks,
    ...Object.fromEntries(lengths),
    note: bra.note,
  });
}

function measurementsEnvelope(
  view: View,
  { measurements }: SandboxUser,
  id: number,
  page: number,
): SentEnvelope | null {
  switch (view.measurements) {
    case "linked":
      return pageOf(view, "measurements", id, page, measurements, {}, (measurement) =>
        measurementSummary(view, measurement),
      );
    case "inline":
      return wholeCollection(view.urlOf("measurements", 0), measurements, {}, measured);
    case "entity": {
      const [newest] = measurements;
      const body = { ...(newest && measured(newest)), history: measurements.slice(1).map(measured) };
      return entity(view.urlOf("measurements", 0), null, {}, body);
    }
  }
}

/** A measurement without a URL and with a nested object. */
function measured({ measuredOn, girths }: Measurement): JsonObject {
  const values = girthNames.map((name, index) => [name, girths[index] ?? null] as const);
  return { measured_on: measuredOn, ...Object.fromEntries(values), method: { tape: true, unit: "cm" } };
}

function measurementSummary(view: View, { id, measuredOn }: Measurement): JsonObject {
  return {
    ...publicPage(view, `measurements/${id}`),
    href: view.urlOf("measurement", id),
    measured_on: measuredOn,
  };
}

function measurementEnvelope(view: View, { id, measuredOn, girths }: Measurement): SentEnvelope {
  const values = girthNames.map((name, index) => [name, girths[index] ?? null] as const);
  return entity(
    view.urlOf("measurement", id),
    view.urlOf("measurements", 0),
    {},
    {
      ...publicPage(view, `measurements/${id}`),
      measured_on: measuredOn,
      ...Object.fromEntries(values),
    },
  );
}
