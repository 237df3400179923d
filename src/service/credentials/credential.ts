/**
 * A user's token or an application's key and secret. The value lives only in this module, out of reach of printing,
 * cloning and JSON; `authorizationOf` and `redact` are for the door, `redact` for the log too, `tokenText` is for where tokens
 * are kept, `secretSpellings` for the search for leaks, and none of them must be imported elsewhere.
 */

import { createHash, createHmac } from "node:crypto";
import { inspect } from "node:util";
import { ServiceSettingsError } from "../errors.ts";
import { type SecretEncoding, secretEncodings } from "./secret-encodings.ts";

/** A text that must not get out: it can be searched for, and cannot be sent. */
export interface Hidden {
  toString(): string;
  toJSON(): string;
}

export interface Credential extends Hidden {
  readonly kind: "token" | "app";
}

interface Secret {
  /** Null for what is never sent. */
  readonly authorization: string | null;
  /** What was given to make it. */
  readonly text: string;
  /** The secret as it may be found somewhere. */
  readonly spellings: readonly SecretEncoding[];
}

const shown = "[credential]";
const secrets = new WeakMap<Hidden, Secret>();

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

/** For a secret that the service must never get, such as a passphrase. */
export function hideSecret(text: string): Hidden {
  return hide({}, { authorization: null, text, spellings: secretEncodings(text) });
}

/** The value of the `Authorization` header. */
export function authorizationOf(credential: Credential): string {
  const { authorization } = secretOf(credential);
  if (authorization === null) throw new TypeError("not a credential");
  return authorization;
}

/** How the secret may be written somewhere: to be searched for, and never to be shown. */
export function encodingsOf(credential: Hidden): readonly SecretEncoding[] {
  return secretOf(credential).spellings;
}

/** A user's token as she gave it. */
export function tokenText(credential: Credential): string {
  if (credential.kind !== "token") throw new TypeError("not a user's token");
  return secretOf(credential).text;
}

/** A text from the service, which may have echoed the credential, made safe to show. */
export function redact(credential: Hidden, text: string): string {
  const { spellings } = secretOf(credential);
  return spellings.reduce((rest, { bytes }) => rest.replaceAll(bytes.toString("latin1"), shown), text);
}

function keep(kind: Credential["kind"], scheme: string, text: string, parts: readonly string[]): Credential {
  const spellings = [text, ...parts].flatMap(secretEncodings);
  return hide({ kind }, { authorization: `${scheme} ${text}`, text, spellings });
}

function hide<Facts extends object>(facts: Facts, secret: Secret): Facts & Hidden {
  const show = () => shown;
  const one = Object.freeze({ ...facts, toString: show, toJSON: show, [inspect.custom]: show });
  secrets.set(one, secret);
  return one;
}

function secretOf(credential: Hidden): Secret {
  const secret = secrets.get(credential);
  if (secret === undefined) throw new TypeError("not made by bearerToken, appCredential or hidden");
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

/** Tells credentials apart without giving them away: a SHA-256 in hexadecimal digits, or nothing for none. */
export function digestCredential(credential: Credential | null): string {
  return credential === null ? "" : createHash("sha256").update(authorizationOf(credential)).digest("hex");
}

/** Tells another holder of the same credential that one has it: an HMAC-SHA-256 about `subject`, in hexadecimal digits. */
export function credentialHmac(credential: Credential | null, subject: string): string {
  const key = credential === null ? "" : authorizationOf(credential);
  return createHmac("sha256", key).update(subject).digest("hex");
}
