/**
 * A user's token, or an application's key and secret. The value exists only in this module, out of reach of printing,
 * cloning and JSON. `authorizationOf` is for the client, `redact` for the client and the log, `tokenText` for the token
 * store, `encodingsOf` for searches of responses and files; nothing else may import them.
 */
import { createHash, createHmac } from "node:crypto";
import { inspect } from "node:util";
import { ServiceSettingsError } from "../errors.ts";
import { type SecretEncoding, secretEncodings } from "./secret-encodings.ts";

/** A text that must not leak: it can be searched for, and cannot be sent. */
export interface SecretText {
  toString(): string;
  toJSON(): string;
}

export interface Credential extends SecretText {
  /** A user's token, or the key and secret of an application. */
  readonly kind: "token" | "app";
}

interface SecretValue {
  /** Null for a secret that is never sent. */
  readonly authorization: string | null;
  /** The text as given. */
  readonly text: string;
  /** The forms in which it may have leaked. */
  readonly encodings: readonly SecretEncoding[];
}

const shown = "[credential]";
const secrets = new WeakMap<SecretText, SecretValue>();

/**
 * A user's token, as a credential that prints without it.
 * @throws ServiceSettingsError when the token holds a character that no header can carry
 */
export function bearerToken(token: string): Credential {
  return createCredential("token", "bearer", sendableOrThrow("token", token), []);
}

/**
 * An application's key and secret, as a credential that prints without them.
 * @throws ServiceSettingsError when the key or secret holds a character that no header can carry
 */
export function appCredential(key: string, secret: string): Credential {
  if (key.includes(":")) throw refusal("application key", "a colon");
  const pair = `${sendableOrThrow("application key", key)}:${sendableOrThrow("application secret", secret)}`;
  return createCredential("app", "app", pair, [secret]);
}

/** For a secret that is never sent to the service, such as a passphrase. */
export function hideSecret(text: string): SecretText {
  return protect({}, { authorization: null, text, encodings: secretEncodings(text) });
}

/** The value of the `Authorization` header. */
export function authorizationOf(credential: Credential): string {
  const { authorization } = secretOf(credential);
  if (authorization === null) throw new TypeError("not a credential");
  return authorization;
}

/** The forms of the secret to search for; never to be shown. */
export function encodingsOf(credential: SecretText): readonly SecretEncoding[] {
  return secretOf(credential).encodings;
}

/** A user's token as given. */
export function tokenText(credential: Credential): string {
  if (credential.kind !== "token") throw new TypeError("not a user's token");
  return secretOf(credential).text;
}

/** Removes the credential from a text of the service, which may have echoed it. */
export function redact(credential: SecretText, text: string): string {
  const { encodings } = secretOf(credential);
  return encodings.reduce(
    (rest, { form, bytes }) => rest.replaceAll(bytes.toString(form === "UTF-16" ? "latin1" : "utf8"), shown),
    text,
  );
}

function createCredential(
  kind: Credential["kind"],
  scheme: string,
  text: string,
  parts: readonly string[],
): Credential {
  const encodings = [text, ...parts].flatMap(secretEncodings);
  return protect({ kind }, { authorization: `${scheme} ${text}`, text, encodings });
}

function protect<Facts extends object>(facts: Facts, secret: SecretValue): Facts & SecretText {
  const show = () => shown;
  const holder = Object.freeze({ ...facts, toString: show, toJSON: show, [inspect.custom]: show });
  secrets.set(holder, secret);
  return holder;
}

function secretOf(credential: SecretText): SecretValue {
  const secret = secrets.get(credential);
  if (secret === undefined) throw new TypeError("not made by bearerToken, appCredential or hideSecret");
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

/** Identifies a credential without revealing it: its SHA-256 in hexadecimal, or an empty text for none. */
export function digestCredential(credential: Credential | null): string {
  return credential === null ? "" : createHash("sha256").update(authorizationOf(credential)).digest("hex");
}

/** Proves to another holder of a credential that this process has it too: an HMAC-SHA-256 of `subject`, in hexadecimal. */
export function credentialHmac(credential: Credential | null, subject: string): string {
  const key = credential === null ? "" : authorizationOf(credential);
  return createHmac("sha256", key).update(subject).digest("hex");
}
