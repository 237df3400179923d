/** Faults of fields (wrong types, unknown fields, odd times and texts, too many or too long, any by pointer) and of links. */
import { type EnvelopeFault, fillIn, isObject, itemsIn, type LooseObject, objectIn } from "./fault.ts";

const wrongValues = [null, 42, -1.5, "text", true, [], ["a"], {}, { nested: { value: 1 } }];

const oddTimes = [
  "2024-02-30T12:00:00",
  "2024-06-30T23:59:60",
  "2024-01-01T24:00:00",
  "2024-01-01 12:00:00",
  "2024-01-01T12:00:00+05:45",
  "2024-03-31T02:30:00",
  "0000-01-01T00:00:00",
  "10000-01-01T00:00:00",
  "2024-01-01T12:00:00.123456789",
  "yesterday",
  "",
];

const oddTexts = [
  "nul \u0000 inside",
  "lone \uD800 surrogate",
  "lone \uDFFF low",
  "escape \u001B[31m red",
  "\u202Egnp.exe",
  "=cmd|' /C calc'!A0",
];

export const fieldFaults = {
  set: (envelope, { parameters, url }) => {
    const { value = null } = parameters;
    const filled = typeof value === "string" ? fillIn(value, url) : value;
    return atPointer(envelope, parameters.pointer ?? "/body", (holder, name) => (holder[name] = filled));
  },

  remove: (envelope, { parameters }) =>
    atPointer(envelope, parameters.pointer ?? "/body", (holder, name) => delete holder[name]),

  /** Each field of the body, or of each item, gets a value of a wrong type; hrefs stay. */
  "wrong-types": (envelope) => {
    let turn = 0;
    for (const fields of fieldsIn(envelope)) {
      for (const name of Object.keys(fields)) {
        const fitting = wrongValues.filter((value) => typeof value !== typeof fields[name]);
        if (name !== "href") fields[name] = fitting[turn++ % fitting.length];
      }
    }
    return envelope;
  },

  "unknown-fields": (envelope) => {
    for (const fields of fieldsIn(envelope))
      Object.assign(fields, { surprise: { deep: [1, null] }, "odd/na~me": 1 });
    objectIn(envelope, "links").surprise = `${envelope.self}surprise/`;
    objectIn(envelope, "meta").surprise = true;
    return { ...envelope, surprise: "at the top" };
  },

  "odd-time": (envelope, { parameters, url }) => {
    const body = objectIn(envelope, "body");
    if ("last_modified_at" in body)
      body.last_modified_at = parameters.value ?? oddTimes[url.length % oddTimes.length];
    return envelope;
  },

  "odd-text": (envelope) => {
    for (const [index, fields] of fieldsIn(envelope).entries())
      fields.name = oddTexts[index % oddTexts.length];
    return envelope;
  },

  /** As in older deployments: an empty `meta`, and the collection's URL at the top level. */
  "top-level-collection": (envelope) => {
    const { collection } = objectIn(envelope, "meta");
    return envelope.rel === "entity" ? { ...envelope, meta: {}, collection } : envelope;
  },

  "empty-meta": (envelope) => ({ ...envelope, meta: {} }),
  "wrong-rel": (envelope, { parameters }) => ({ ...envelope, rel: parameters.value ?? "surprise" }),

  "huge-text": (envelope, { parameters }) => {
    for (const fields of fieldsIn(envelope).slice(0, 1))
      fields.name = "x".repeat(parameters.bytes ?? 2 ** 20);
    return envelope;
  },

  "many-keys": (envelope, { parameters }) => {
    const [fields = {}] = fieldsIn(envelope);
    for (let index = 0; index < (parameters.count ?? 50_000); index++) fields[`key_${index}`] = index;
    return envelope;
  },
} satisfies Record<string, EnvelopeFault>;

/** An entity's body, or a collection's items. */
function fieldsIn(envelope: LooseObject): LooseObject[] {
  return isObject(envelope.body) ? [envelope.body] : itemsIn(envelope);
}

function atPointer(
  envelope: LooseObject,
  pointer: string,
  change: (holder: LooseObject, name: string) => unknown,
): LooseObject {
  const names = pointer
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const last = names.pop() ?? "";
  let holders: unknown[] = [envelope];
  for (const name of names) {
    holders = holders.flatMap((holder) =>
      isHolder(holder) ? namesOf(holder, name).map((key) => holder[key]) : [],
    );
  }
  for (const holder of holders.filter(isHolder))
    for (const name of namesOf(holder, last)) change(holder, name);
  return envelope;
}

/** Objects and arrays: an index counts as a name. */
function isHolder(value: unknown): value is LooseObject {
  return typeof value === "object" && value !== null;
}

function namesOf(holder: LooseObject, name: string): string[] {
  return name === "*" ? Object.keys(holder) : [name];
}

/** Link faults: null, missing, of a wrong type, or to forbidden targets. */

/** Targets to which a careless client would send its token; `{host}` and `{path}` are those of the request. */
const evilTargets = [
  "https://evil.example{path}",
  "//evil.example{path}",
  "/\\evil.example{path}",
  "http://{host}@evil.example{path}",
  "http://{host}.evil.example{path}",
  "http://{host}./",
  "https://{host}{path}",
  "javascript:alert(1)",
  "file:///etc/passwd",
  "data:application/json,{}",
  "http://169.254.169.254/latest/meta-data/",
  "http://xn--vil-9na.example{path}",
  "http://user:password@{host}{path}",
  "http://[::1]:1/",
  "http://0x7f000001:1/",
  "ftp://{host}/",
  "not a url",
  "",
];

/** Points each link and href to the next target, or all of them to the given one. */
const evilLinks: EnvelopeFault = (envelope, { url, parameters }) => {
  let turn = url.length;
  const target = (): string => {
    return fillIn(parameters.target ?? evilTargets[turn++ % evilTargets.length] ?? "", url);
  };
  eachLink(envelope, parameters.link, target);
  if (parameters.link === undefined) for (const item of itemsIn(envelope)) item.href = target();
  return envelope;
};

export const linkFaults = {
  "evil-links": evilLinks,
  "null-links": (envelope, { parameters }) => eachLink(envelope, parameters.link, () => null),
  "wrong-links": (envelope, { parameters }) =>
    eachLink(envelope, parameters.link, () => parameters.value ?? { href: 42 }),
  "relative-links": (envelope, { parameters }) =>
    eachLink(envelope, parameters.link, (link) => relative(link)),
  "templated-links": (envelope, { parameters }) =>
    eachLink(envelope, parameters.link, (link) => `${link}{?page}`),

  "missing-links"(envelope, { parameters }) {
    if (parameters.link === undefined) delete envelope.links;
    else delete objectIn(envelope, "links")[parameters.link];
    return envelope;
  },

  "items-without-href"(envelope) {
    for (const item of itemsIn(envelope)) delete item.href;
    return envelope;
  },

  "relative-hrefs"(envelope) {
    for (const item of itemsIn(envelope)) item.href = relative(item.href);
    return envelope;
  },
} satisfies Record<string, EnvelopeFault>;

function eachLink(
  envelope: LooseObject,
  only: string | undefined,
  change: (link: unknown) => unknown,
): LooseObject {
  const links = objectIn(envelope, "links");
  for (const name of Object.keys(links)) {
    if (only === undefined || only === name) links[name] = change(links[name]);
  }
  return envelope;
}

function relative(link: unknown): unknown {
  return typeof link === "string" && URL.canParse(link) ? new URL(link).pathname : link;
}
