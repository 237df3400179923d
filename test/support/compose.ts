/** Reads `docker-compose.yml` and `Dockerfile`: services, commands and settings. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const root = join(import.meta.dirname, "../..");

export interface ComposeService {
  readonly build?: unknown;
  readonly entrypoint?: readonly string[];
  readonly command: string | readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
  readonly [other: string]: unknown;
}

export interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

/** @param env the environment of `docker compose` */
export function readCompose(env: Readonly<Record<string, string>> = {}): Compose {
  const text = readFileSync(join(root, "docker-compose.yml"), "utf8");
  return interpolate(parse(text, { merge: true }), env) as Compose;
}

export interface ImageFacts {
  readonly entrypoint: readonly string[];
  readonly user: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The instructions of the image's last stage. */
export function readImage(): ImageFacts {
  const text = readFileSync(join(root, "Dockerfile"), "utf8");
  const stage = text.slice(text.lastIndexOf("\nFROM "));
  const instructions = (instruction: string) =>
    new RegExp(`^${instruction} (.*)$`, "m").exec(stage)?.[1] ?? `no ${instruction}`;
  return {
    entrypoint: JSON.parse(instructions("ENTRYPOINT")),
    user: instructions("USER"),
    env: Object.fromEntries(
      instructions("ENV")
        .split(" ")
        .map((pair) => pair.split("=", 2)),
    ),
  };
}

/** The forms of the Compose specification that our file uses, without a check of keys. */
function interpolate(value: unknown, env: Readonly<Record<string, string>>): unknown {
  if (Array.isArray(value)) return value.map((item) => interpolate(item, env));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, interpolate(item, env)]));
  if (typeof value !== "string") return value;
  return value.replace(
    /\$\$|\$\{(\w+):([-+])([^}]*)\}|\$/g,
    (form, name: string | undefined, sign: string, word: string) => {
      if (form === "$$") return "$";
      if (name === undefined)
        throw new Error(`docker-compose.yml has a form that is not read here: ${value}`);
      const set = env[name] ?? "";
      if (sign === "-") return set === "" ? word : set;
      return set === "" ? "" : word;
    },
  );
}
