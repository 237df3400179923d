/** Faults of links: null, missing, of another type, or leading where no client should follow. */
import { type EnvelopeFault, fillIn, itemsIn, type LooseObject, objectIn } from "./fault.ts";

/** Where a careless client would take its token; `{host}` and `{path}` are those of the request. */
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

/** Every link and href in turn goes to the next of the targets, or all to the one that is given. */
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
