/** The sandbox's users with their data and tokens, all derived from the seed. */

import { z } from "zod";
import { Random, streams } from "../random.ts";
import { isLive, type Size, type World } from "../world/world.ts";

export const scopes = ["identity", "email", "bras", "measurements"] as const;
export type Scope = (typeof scopes)[number];

/** The first user has all scopes; each next one fewer, cyclically. */
const scopesInTurn: readonly (readonly Scope[])[] = [
  scopes,
  ["identity", "bras", "measurements"],
  ["identity", "bras"],
  ["identity", "email", "measurements"],
  ["identity"],
];
const usernames = ["anna", "béatrice", "clara_42", "дарья", "emi 絵美", "farah", "greta", "hye-jin"];

/** The first user has more bras than fit on a page; the others have 2 to 11. */
const firstUserBras = 30;

export interface SandboxUser {
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

export interface OwnedBra {
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

export const lengthNames = [
  "bust_perimeter",
  "strap_width",
  "cup_separation",
  "cup_depth",
  "wire_length",
  "gore_height",
  "wing_height",
  "band_length",
  "stretched_band_length",
] as const;

export interface Measurement {
  readonly id: number;
  /** ISO 8601, a day. */
  readonly measuredOn: string;
  /** In centimetres, in the order of `girthNames`. */
  readonly girths: readonly (number | null)[];
}

export const girthNames = [
  "loose_underbust",
  "snug_underbust",
  "tight_underbust",
  "standing_bust",
  "leaning_bust",
  "lying_bust",
] as const;

/** @param nullMeasurements whether bras may lack measurements */
export function createUsers(world: World, count: number, nullMeasurements: boolean): SandboxUser[] {
  const sizes = world.sizes.filter(isLive);
  return Array.from({ length: count }, (_, index) => createUser(world, sizes, index, nullMeasurements));
}

function createUser(
  { seed }: World,
  sizes: readonly Size[],
  index: number,
  nullMeasurements: boolean,
): SandboxUser {
  const random = new Random(seed, streams.user, index);
  const id = 1000 + index;
  const first = usernames[index % usernames.length] ?? "";
  const username = index < usernames.length ? first : `${first}${index}`;
  const bras = sizes.length === 0 ? 0 : index === 0 ? firstUserBras : 2 + random.integer(10);
  return {
    id,
    username,
    token: `sandbox-token-${random.hex(40)}`,
    isRevoked: false,
    scopes: scopesInTurn[index % scopesInTurn.length] ?? scopes,
    email: `user${id}@mail.example`,
    reputation: random.integer(5_000),
    isVerified: random.chance(0.5),
    bras: Array.from({ length: bras }, (_, number) =>
      createBra(seed, id * 1_000 + number, random.pick(sizes), nullMeasurements),
    ),
    measurements: Array.from({ length: 1 + random.integer(30) }, (_, number) =>
      createMeasurement(seed, id * 1_000 + number),
    ),
  };
}

const notes = [
  "",
  "My favourite",
  "too tight,\nsend back?",
  "💔 wire came out",
  '"as new"',
  "=HYPERLINK(1)",
  "לא נוח",
];

function createBra(seed: number, id: number, size: Size, nullMeasurements: boolean): OwnedBra {
  const random = new Random(seed, streams.bra, id);
  return {
    id,
    size,
    name: `${size.model.name} ${size.label}`,
    note: random.pick(notes),
    flags: {
      isOwned: random.chance(0.8),
      isCustom: random.chance(0.1),
      isAltered: random.chance(0.1),
      alteredBand: random.chance(0.05),
    },
    hooks: nullAtTimes(random, 0.1, 1 + random.integer(4), nullMeasurements),
    lengths: lengthNames.map(() =>
      nullAtTimes(random, 0.2, lengthInCentimetres(random, 1, 60), nullMeasurements),
    ),
  };
}

function createMeasurement(seed: number, id: number): Measurement {
  const random = new Random(seed, streams.measurement, id);
  const day = Date.UTC(2020, 0, 1) + random.integer(1_500) * 86_400_000;
  return {
    id,
    measuredOn: new Date(day).toISOString().slice(0, 10),
    girths: girthNames.map(() => nullAtTimes(random, 0.2, lengthInCentimetres(random, 60, 60), true)),
  };
}

/** With one decimal. */
function lengthInCentimetres(random: Random, least: number, span: number): number {
  return least + random.integer(span * 10) / 10;
}

/** The other values are the same whether nulls are allowed or not. */
function nullAtTimes(random: Random, probability: number, value: number, isAllowed: boolean): number | null {
  return random.chance(probability) && isAllowed ? null : value;
}

/** Edits of users while a sandbox runs: revoked scopes and tokens, deleted and restored bras and measurements. */

const count = z.int().min(0).max(100_000);

export const userEdit = z
  .strictObject({
    /** Whether the token is revoked. */
    isRevoked: z.boolean(),
    scopes: z.array(z.enum(scopes)),
    /** Numbers of bras and measurements that remain, counted from the first. */
    bras: count,
    measurements: count,
    /** The note of the first bra. */
    note: z.string(),
  })
  .partial();

export type UserEdit = z.input<typeof userEdit>;

/** Users by name, with their latest edits. */
export interface UserBook {
  readonly current: () => readonly SandboxUser[];
  /** @throws RangeError for an unknown user name */
  readonly edit: (username: string, edit: UserEdit) => void;
}

export function createUserBook(users: readonly SandboxUser[]): UserBook {
  const edits = new Map<string, UserEdit>();
  return {
    current: () => users.map((user) => edited(user, edits.get(user.username) ?? {})),
    edit(username, edit) {
      if (users.every((user) => user.username !== username))
        throw new RangeError(`There is no user ${username}`);
      edits.set(username, { ...edits.get(username), ...edit });
    },
  };
}

function edited(user: SandboxUser, { isRevoked, scopes, bras, measurements, note }: UserEdit): SandboxUser {
  return {
    ...user,
    isRevoked: isRevoked ?? user.isRevoked,
    scopes: scopes ?? user.scopes,
    bras: user.bras
      .slice(0, bras)
      .map((bra, index) => (index === 0 && note !== undefined ? { ...bra, note } : bra)),
    measurements: user.measurements.slice(0, measurements),
  };
}
