import { z } from "zod";
/** Sizing systems, and one size's label in each of them. */
interface SizingSystem {
  readonly label: string;
  readonly name: string;
  /** The band's number at a step of the grid. */
  readonly band: (step: number) => number;
  /** The label of each cup, by step of the grid. */
  readonly cups: readonly string[];
}
/** A cell of the grid of bands and cups; each system labels it differently. */
interface GridCell {
  readonly bandStep: number;
  readonly cupStep: number;
}
interface Brand {
  readonly id: number;
  readonly slug: string;
  readonly system: SizingSystem;
  /** In listed order, which is arbitrary. */
  readonly models: Model[];
  readonly modelBySlug: Map<string, Model>;
  /** Factor for the numbers of owners of its models; at least 1. */
  readonly popularity: number;
  name: string;
  twitter: string | null;
  facebook: string | null;
  logoVersion: number;
  /** The sum over its models. */
  braCount: number;
  /** As the service writes times. */
  lastModifiedAt: string;
  /** A removed entity keeps its place in lists, so it can return there; slugs and labels are never reused. */
  isGone: boolean;
}
interface Model {
  readonly id: number;
  readonly brand: Brand;
  readonly slug: string;
  readonly code: string;
  readonly sizes: Size[];
  readonly sizeByLabel: Map<string, Size>;
  name: string;
  type: string;
  isDiscontinued: boolean;
  stockPictures: number;
  /** The sum over its sizes. */
  braCount: number;
  /** As the service writes times. */
  lastModifiedAt: string;
  isGone: boolean;
}
interface Size {
  readonly id: number;
  readonly model: Model;
  readonly cell: GridCell;
  readonly label: string;
  /** How many bras of it users own. */
  braCount: number;
  pictureVersion: number;
  /** As the service writes times. */
  lastModifiedAt: string;
  isGone: boolean;
}
interface WorldTotals {
  readonly brands: number;
  readonly models: number;
  readonly sizes: number;
}
declare const scopes: readonly ["identity", "email", "bras", "measurements"];
type Scope = (typeof scopes)[number];
interface SandboxUser {
  readonly id: number;
  readonly username: string;
  /** What a client sends as a bearer token. */
  readonly token: string;
  readonly isRevoked: boolean;
  readonly scopes: readonly Scope[];
  readonly email: string;
  readonly reputation: number;
  readonly isVerified: boolean;
  readonly bras: readonly OwnedBra[];
  readonly measurements: readonly Measurement[];
}
interface OwnedBra {
  readonly id: number;
  readonly size: Size;
  readonly name: string;
  readonly note: string;
  readonly flags: {
    readonly isOwned: boolean;
    readonly isCustom: boolean;
    readonly isAltered: boolean;
    readonly alteredBand: boolean;
  };
  /** The number of rows of hooks; null if not stated. */
  readonly hooks: number | null;
  /** In centimetres, in the order of `lengthNames`. */
  readonly lengths: readonly (number | null)[];
}
interface Measurement {
  readonly id: number;
  /** ISO 8601, a day. */
  readonly measuredOn: string;
  /** In centimetres, in the order of `girthNames`. */
  readonly girths: readonly (number | null)[];
}
declare const userEdit: z.ZodObject<{
  isRevoked: z.ZodOptional<z.ZodBoolean>;
  scopes: z.ZodOptional<z.ZodArray<z.ZodEnum<{
    bras: "bras";
    email: "email";
    identity: "identity";
    measurements: "measurements";
  }>>>;
  bras: z.ZodOptional<z.ZodInt>;
  measurements: z.ZodOptional<z.ZodInt>;
  note: z.ZodOptional<z.ZodString>;
}, z.core.$strict>;
type UserEdit = z.input<typeof userEdit>;
interface SandboxApp {
  readonly key: string;
  readonly secret: string;
}
/** Order matters: the index is the kind's code in opaque addresses. */
declare const resourceKinds: readonly ["root", "rate_limit", "brands", "brand", "related_brands", "sizings", "sizing", "models", "model", "related_models", "same_cut", "sizes", "size", "adjacent_sizes", "me", "bras", "bra", "measurements", "measurement"];
type ResourceKind = (typeof resourceKinds)[number];
interface Resource {
  readonly kind: ResourceKind;
  /** Number of the brand, model, size, sizing system, bra or measurement that it is or belongs to; else 0. */
  readonly id: number;
  /** From 1; 1 for resources without pages. */
  readonly page: number;
}
/** The kinds that require a token, with the required scope. */
declare const scopeByKind: {
  readonly me: "identity";
  readonly bras: "bras";
  readonly bra: "bras";
  readonly measurements: "measurements";
  readonly measurement: "measurements";
};
type AccountKind = keyof typeof scopeByKind;
type CatalogueKind = Exclude<ResourceKind, AccountKind | "rate_limit">;
type Json = null | boolean | number | string | readonly Json[] | {
  readonly [name: string]: Json;
};
type JsonObject = {
  readonly [name: string]: Json;
};
/** An envelope with its members in the order in which they are sent. */
interface SentEnvelope {
  readonly self: string;
  readonly rel: "resource" | "entity" | "collection";
  readonly spec: string | null;
  readonly links: JsonObject;
  readonly meta: JsonObject;
  readonly body?: JsonObject;
  readonly collection?: readonly JsonObject[];
}
interface CatalogueResource extends Resource {
  readonly kind: CatalogueKind;
}
interface TruthRecord {
  /** As the sandbox's links have it. */
  readonly url: string;
  readonly kind: CatalogueKind;
  /** The response body; `JSON.stringify` gives its exact bytes. */
  readonly body: SentEnvelope;
}
interface TruthOptions {
  /** Includes the targets of optional links (`related`, `same_cut`, `adjacent_sizes`, `sizing`, `main_sizing`). */
  readonly optional?: boolean;
}
declare const entityKinds: readonly ["brand", "model", "size"];
type EntityKind = (typeof entityKinds)[number];
/** Numbers of edits in each step. Default: some of every kind except returns. */
interface AdvanceRequest {
  /** Default: 1. */
  readonly steps?: number;
  /** Entities that get another value. */
  readonly changes?: number;
  /** New entities. */
  readonly additions?: number;
  /** Entities that go. */
  readonly removals?: number;
  /** Removed entities that reappear. */
  readonly returns?: number;
  /** Models that move within their brand's list, so between its pages. */
  readonly moves?: number;
  /** Kind of the edited entities. Default: all three kinds, sizes most often. */
  readonly kind?: EntityKind;
}
interface AdvanceReport {
  /** Number of the last step, counted from the sandbox's start. */
  readonly step: number;
  readonly actions: readonly AdvanceAction[];
}
/** The differences between two states of some resources. */
interface AdvanceAction {
  readonly action: "changed" | "added" | "removed" | "moved";
  readonly kind: CatalogueResource["kind"];
  readonly url: string;
  /** Members of an entity's body, or of a page's `meta` and `collection`; `position` (from 0) of moved items. */
  readonly fields?: Readonly<Record<string, readonly [before: Json, after: Json]>>;
}
interface ClockMove {
  /** Moves the clock forward; negative values move it back. */
  readonly advanceSeconds?: number;
  /** ISO 8601. */
  readonly now?: string;
}
/** The log of all requests except administration, for tests to count. */
interface LogEntry {
  /** From 1, in order of arrival; never reused. */
  readonly n: number;
  /** ISO 8601, from the sandbox's clock. */
  readonly time: string;
  readonly method: string;
  readonly url: string;
  /** Of HTTP. */
  readonly status: number;
  /** Whether it counted against the allowance. */
  readonly counted: boolean;
  /** Whose allowance it is: `none`, `app:KEY` or `user:NAME`. */
  readonly credential: string;
  /** Whether it had `If-None-Match`. */
  readonly conditional: boolean;
  /** The name of the applied fault. */
  readonly fault?: string;
  /** The previous request for the same URL if that had a fault: this one is its retry. */
  readonly attemptOf?: number;
}
declare const faultRule: z.ZodReadonly<z.ZodObject<{
  status: z.ZodOptional<z.ZodInt>;
  retryAfter: z.ZodOptional<z.ZodUnion<readonly [z.ZodString, z.ZodArray<z.ZodString>]>>;
  target: z.ZodOptional<z.ZodString>;
  link: z.ZodOptional<z.ZodString>;
  name: z.ZodOptional<z.ZodString>;
  value: z.ZodOptional<z.ZodJSONSchema>;
  pointer: z.ZodOptional<z.ZodString>;
  at: z.ZodOptional<z.ZodNumber>;
  framing: z.ZodOptional<z.ZodEnum<{
    chunked: "chunked";
    close: "close";
    gzip: "gzip";
    length: "length";
  }>>;
  millis: z.ZodOptional<z.ZodInt>;
  bytes: z.ZodOptional<z.ZodInt>;
  count: z.ZodOptional<z.ZodInt>;
  by: z.ZodOptional<z.ZodInt>;
  kind: z.ZodDefault<z.ZodEnum<{
    "*": "*";
    adjacent_sizes: "adjacent_sizes";
    bra: "bra";
    brand: "brand";
    brands: "brands";
    bras: "bras";
    me: "me";
    measurement: "measurement";
    measurements: "measurements";
    model: "model";
    models: "models";
    rate_limit: "rate_limit";
    related_brands: "related_brands";
    related_models: "related_models";
    root: "root";
    same_cut: "same_cut";
    size: "size";
    sizes: "sizes";
    sizing: "sizing";
    sizings: "sizings";
  }>>;
  positions: z.ZodOptional<z.ZodArray<z.ZodInt>>;
  every: z.ZodOptional<z.ZodInt>;
  from: z.ZodOptional<z.ZodInt>;
  times: z.ZodDefault<z.ZodUnion<readonly [z.ZodInt, z.ZodLiteral<"always">]>>;
  fault: z.ZodEnum<{
    "allowance-spent": "allowance-spent";
    "bare-refusal": "bare-refusal";
    "big-numbers": "big-numbers";
    "byte-order-mark": "byte-order-mark";
    "chained-encodings": "chained-encodings";
    "close-after": "close-after";
    deep: "deep";
    drift: "drift";
    drip: "drip";
    "drip-headers": "drip-headers";
    "duplicate-keys": "duplicate-keys";
    "empty-body": "empty-body";
    "empty-collection": "empty-collection";
    "empty-meta": "empty-meta";
    encoding: "encoding";
    "evil-links": "evil-links";
    "gzip-bomb": "gzip-bomb";
    "hang-up": "hang-up";
    header: "header";
    "huge-text": "huge-text";
    "invalid-utf8": "invalid-utf8";
    "items-without-href": "items-without-href";
    "json-array": "json-array";
    "json-null": "json-null";
    "json-string": "json-string";
    "login-page": "login-page";
    "many-items": "many-items";
    "many-keys": "many-keys";
    "missing-links": "missing-links";
    "next-beyond": "next-beyond";
    "next-earlier": "next-earlier";
    "next-endless": "next-endless";
    "next-missing": "next-missing";
    "next-self": "next-self";
    "no-content-type": "no-content-type";
    "not-authenticated": "not-authenticated";
    "not-json": "not-json";
    "not-modified": "not-modified";
    "not-modified-with-body": "not-modified-with-body";
    "null-collection": "null-collection";
    "null-links": "null-links";
    "odd-text": "odd-text";
    "odd-time": "odd-time";
    "prototype-keys": "prototype-keys";
    redirect: "redirect";
    "redirect-chain": "redirect-chain";
    "relative-hrefs": "relative-hrefs";
    "relative-links": "relative-links";
    remove: "remove";
    reset: "reset";
    "same-etag-other-body": "same-etag-other-body";
    set: "set";
    slow: "slow";
    stall: "stall";
    "stall-headers": "stall-headers";
    status: "status";
    "templated-links": "templated-links";
    text: "text";
    "top-level-collection": "top-level-collection";
    "trailing-garbage": "trailing-garbage";
    truncate: "truncate";
    "two-bodies": "two-bodies";
    "two-documents": "two-documents";
    "unknown-fields": "unknown-fields";
    "utf-16": "utf-16";
    "wrong-content-type": "wrong-content-type";
    "wrong-links": "wrong-links";
    "wrong-rel": "wrong-rel";
    "wrong-total": "wrong-total";
    "wrong-types": "wrong-types";
  }>;
}, z.core.$strict>>;
/** A rule as written, without defaults. */
type FaultRuleInput = z.input<typeof faultRule>;
/** Named sets of rules. */
declare const faultPresetNames: readonly ["flaky", "hostile", "broken", "slow"];
type FaultPresetName = (typeof faultPresetNames)[number];
declare const optionsSchema: z.ZodObject<{
  host: z.ZodDefault<z.ZodString>;
  port: z.ZodDefault<z.ZodInt>;
  seed: z.ZodDefault<z.ZodInt>;
  preset: z.ZodDefault<z.ZodEnum<{
    real: "real";
    small: "small";
  }>>;
  brands: z.ZodOptional<z.ZodInt>;
  models: z.ZodOptional<z.ZodInt>;
  sizes: z.ZodOptional<z.ZodInt>;
  pageSize: z.ZodDefault<z.ZodInt>;
  paginateSizes: z.ZodDefault<z.ZodBoolean>;
  measurements: z.ZodDefault<z.ZodEnum<{
    entity: "entity";
    inline: "inline";
    linked: "linked";
  }>>;
  nullMeasurements: z.ZodDefault<z.ZodBoolean>;
  pictures: z.ZodDefault<z.ZodEnum<{
    elsewhere: "elsewhere";
    here: "here";
  }>>;
  layout: z.ZodDefault<z.ZodEnum<{
    opaque: "opaque";
    plain: "plain";
  }>>;
  pagination: z.ZodDefault<z.ZodEnum<{
    cursor: "cursor";
    page: "page";
  }>>;
  serviceName: z.ZodDefault<z.ZodString>;
  allowance: z.ZodDefault<z.ZodNullable<z.ZodInt>>;
  allowances: z.ZodDefault<z.ZodObject<{
    none: z.ZodOptional<z.ZodNullable<z.ZodInt>>;
    app: z.ZodOptional<z.ZodNullable<z.ZodInt>>;
    user: z.ZodOptional<z.ZodNullable<z.ZodInt>>;
  }, z.core.$strict>>;
  windowSeconds: z.ZodDefault<z.ZodInt>;
  allowanceHeaders: z.ZodDefault<z.ZodEnum<{
    epoch: "epoch";
    none: "none";
    seconds: "seconds";
  }>>;
  rateLimitFields: z.ZodDefault<z.ZodEnum<{
    ratelimit: "ratelimit";
    structured: "structured";
    "x-ratelimit": "x-ratelimit";
  }>>;
  limitMeaning: z.ZodDefault<z.ZodEnum<{
    granted: "granted";
    used: "used";
  }>>;
  spentResponse: z.ZodDefault<z.ZodEnum<{
    "bare-403": "bare-403";
    "bare-429": "bare-429";
    explained: "explained";
  }>>;
  countNotModified: z.ZodDefault<z.ZodBoolean>;
  countRoot: z.ZodDefault<z.ZodBoolean>;
  etag: z.ZodDefault<z.ZodEnum<{
    "last-modified": "last-modified";
    none: "none";
    rotating: "rotating";
    strong: "strong";
    weak: "weak";
  }>>;
  emptiedLists: z.ZodDefault<z.ZodBoolean>;
  cors: z.ZodDefault<z.ZodBoolean>;
  latencyMillis: z.ZodDefault<z.ZodInt>;
  users: z.ZodDefault<z.ZodInt>;
  missingScope: z.ZodDefault<z.ZodEnum<{
    401: "401";
    403: "403";
    404: "404";
    "not-authenticated": "not-authenticated";
    "null-link": "null-link";
  }>>;
  unauthorizedStatus: z.ZodDefault<z.ZodInt>;
}, z.core.$strict>;
interface SandboxOptions extends z.input<typeof optionsSchema> {
  /** A preset's name, rules, or a JSON file of rules. */
  readonly faults?: FaultsOption;
}
type FaultsOption = FaultPresetName | readonly FaultRuleInput[] | {
  readonly file: string;
};
/** A running sandbox. Its catalogue is the same for the same options. */
export interface Sandbox extends AsyncDisposable {
  /** The base URL, with a trailing slash. */
  readonly url: string;
  /** With their tokens; each has bras and measurements. */
  readonly users: readonly Pick<SandboxUser, "username" | "token" | "scopes">[];
  /** The key and secret of its one application. */
  readonly app: SandboxApp;
  /** Numbers of brands, models and sizes. A model has at most 256 sizes, so there may be fewer sizes than requested. */
  readonly totals: WorldTotals;
  /** All current resources of the catalogue down to the sizes: the content of a complete mirror. */
  readonly truth: (options?: TruthOptions) => Iterable<TruthRecord>;
  /** @param since the `n` of an entry; only later entries are returned */
  readonly log: (since?: number) => LogEntry[];
  readonly clearLog: () => void;
  /** Changes the world and reports the effect. */
  readonly advance: (request?: AdvanceRequest) => AdvanceReport;
  /** Moves the sandbox's clock, which also decides allowance windows; returns the new time. */
  readonly moveClock: (move: ClockMove) => Date;
  /** The sandbox's time. */
  readonly now: () => Date;
  /** Replaces the faults; `[]` removes all. */
  readonly setFaults: (faults: FaultsOption) => void;
  /** Changes a user's data or their token's scopes. @throws RangeError for an unknown user name */
  readonly editUser: (username: string, edit: UserEdit) => void;
  /** Ends all connections, and resolves once nothing listens any more. */
  readonly close: () => Promise<void>;
}
/**
 * Starts a sandbox; resolves once it is listening.
 * @throws SandboxOptionError for a wrong option, or the system's error if it cannot listen
 */
export declare function startSandbox(options?: SandboxOptions): Promise<Sandbox>;
export type { SandboxOptions };