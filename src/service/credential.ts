/**
 * A user's token or an application's key and secret. The value lives only in this module, out of reach of printing,
 * cloning and JSON; `authorizationOf` and `redact` are for the door, `redact` for the log too, `tokenText` is for where tokens
 * are kept, `secretSpellings` for the search for leaks, and none of them must be imported elsewhere.
 */
import { inspect } from "node:util";
import { type Spelling, spellingsOf } from "./secret-spellings.ts";
import { ServiceSettingsError } from "./settings-error.ts";

export interface Credential {
  readonly kind: "token" | "app";
  toString(): string;
  toJSON(): string;
}

interface Secret {
  readonly authorization: string;
  /** What was given to make it. */
  readonly text: string;
  /** The secret as it may be found somewhere. */
  readonly spellings: readonly Spelling[];
}

const shown = "[credential]";
const secrets = new WeakMap<Credential, Secret>();

/** @throws ServiceSettingsError when the token holds what no header can carry */
export function bearerToken(token: string): Credential {
  return keep("token", "bearer", sendableOrThrow("token", token), []);
}

/** @throws ServiceSettingsError when the key or secret holds what no header can carry */
export function appCredential(key: string, secret: string): Credential {
  if (key.includes(":")) throw refusal("application key", "a colon");
  const pair = `${sendableOrThrow("application key", key)}:${sendableOrThrow("application secret", secret)}`;
  return keep("app", "app", pair, [secret]);
}

/** The value of the `Authorization` header. */
export function authorizationOf(credential: Credential): string {
  return secretOf(credential).authorization;
}

/** How the secret may be written somewhere: to be searched for, and never to be shown. */
export function secretSpellings(credential: Credential): readonly Spelling[] {
  return secretOf(credential).spellings;
}

/** A user's token as she gave it. */
export function tokenText(credential: Credential): string {
  if (credential.kind !== "token") throw new TypeError("not a user's token");
  return secretOf(credential).text;
}

/** A text from the service, which may have echoed the credential, made safe to show. */
export function redact(credential: Credential, text: string): string {
  const { spellings } = secretOf(credential);
  return spellings.reduce((rest, { bytes }) => rest.replaceAll(bytes.toString("latin1"), shown), text);
}

function keep(kind: Credential["kind"], scheme: string, text: string, parts: readonly string[]): Credential {
  const show = () => shown;
  const credential = Object.freeze({ kind, toString: show, toJSON: show, [inspect.custom]: show });
  const spellings = [text, ...parts].flatMap(spellingsOf);
  secrets.set(credential, { authorization: `${scheme} ${text}`, text, spellings });
  return credential;
}

function secretOf(credential: Credential): Secret {
  const secret = secrets.get(credential);
  if (secret === undefined) throw new TypeError("not a credential made by bearerToken or appCredential");
  return secret;
}

function sendableOrThrow(name: string, value: string): string {
  if (value === "") throw refusal(name, "nothing");
  if (!/^[\x21-\x7e]+$/.test(value))
    throw refusal(name, "a space, a line break or another character that no header can carry");
  return value;
}

function refusal(name: string, content: string): ServiceSettingsError {
  return new ServiceSettingsError(
    "bad-credential",
    `The ${name} contains ${content}.`,
    `Copy the ${name} again, without anything around it.`,
  );
}
