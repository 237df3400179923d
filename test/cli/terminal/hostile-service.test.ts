/** What a service's own text does to a real terminal: in progress, errors, warnings and results. */
import { expect, it } from "vitest";
import { jsonResponse, rawResponse, startRawServer } from "../../support/raw-server.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { showInTerminal } from "../support/terminal.ts";

/** Titles, colors, C1, right to left, zero width, line ends, half a character, and a forged line. */
const text =
  "Ada \u001b]0;title\u0007\u001b[31m\u009b2J\u0085\u202e\u2066\u200b\ufeff\u00ad\u2028\u{e0041}\b\u007f\0\r\nFORGED \ud800";
/** As it may stand in a header: others are refused with the whole response. */
const header = "Ada \u009b2J\u0085\u00adFORGED";
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Every text that a service chooses is hostile. */
async function startHostileService() {
  const entity = (self: string, links: object = {}) => ({
    ...{ self, rel: "entity", spec: text, links: { ...links, [text]: `/${encodeURI(text.toWellFormed())}` } },
    ...{ meta: { collection: null, [text]: text } },
    body: {
      name: text,
      username: text,
      user_id: 7,
      service_url: text,
      email: text,
      [text]: text,
      href: self,
    },
  });
  const list = (self: string, hrefs: readonly string[]) => ({
    ...{ self, rel: "collection", spec: text, links: {} },
    meta: {
      ...{ page_total: null, paginated: false, next: null, current: null, prev: null },
      collection_total: hrefs.length,
    },
    collection: hrefs.map((href) => ({ href, name: text, service_url: text, [text]: text })),
  });
  const failures: Record<string, Buffer> = {
    "/brands/2": Buffer.from(
      `HTTP/1.1 404 ${header}\r\nserver: ${header}\r\ncontent-length: 0\r\n\r\n`,
      "latin1",
    ),
    "/brands/3": rawResponse(302, { location: `http://other.example/${header}` }),
    "/brands/4": jsonResponse({ message: text, error: text, detail: text }, {}, 403),
    "/brands/5": rawResponse(200, { "content-type": `text/html; ${header}` }, `<title>${text}</title>`),
    "/brands/6": rawResponse(200, { "content-type": "application/json" }, `{"rel": "${header}`),
    "/brands/7": jsonResponse({ ...entity("/brands/7"), rel: text }),
    "/brands/8": jsonResponse({ ...entity("/brands/8"), body: text }),
    "/brands/9": jsonResponse(entity("/brands/9"), { "content-encoding": header }),
  };
  return await startRawServer(({ path }, socket) => {
    const brands = ["/brands/1", ...Object.keys(failures)];
    const answers: Record<string, unknown> = {
      "/": {
        ...{ self: "/", rel: "resource", spec: text, meta: { welcome: text } },
        links: { brands: "/brands/", me: "/me/", [text]: "/unknown/" },
      },
      "/brands/": list("/brands/", brands),
      "/brands/1": entity("/brands/1", { models: "/models/" }),
      "/models/": list("/models/", ["/models/1"]),
      "/models/1": entity("/models/1"),
      "/me/": entity("/me/", { bras: "/me/bras/", measurements: "/me/measurements/" }),
      "/me/bras/": list("/me/bras/", ["/me/bras/1"]),
      "/me/bras/1": entity("/me/bras/1"),
      "/me/measurements/": list("/me/measurements/", []),
    };
    const answer = answers[path];
    const limits = { "x-ratelimit-limit": "9000", "x-ratelimit-remaining": "8000", etag: `"${header}"` };
    socket.write(failures[path] ?? (answer ? jsonResponse(answer, limits) : rawResponse(404, {}, text)));
  });
}

it("no command brings an unsafe character of a service to a terminal, and no line that it forged", async () => {
  await using service = await startHostileService();
  await using folder = await temporaryFolder();
  const env = {
    ...{ ARMOIRE_BASE_URL: `${service.origin}/`, ARMOIRE_DATA_DIR: folder.path, NO_COLOR: "1", PAGER: "cat" },
    ARMOIRE_TOKEN: "canary-0123456789abcdef",
  };
  const commands = [
    ["account", "add", "ada"],
    ["account", "list"],
    ["sync", "--verbose"],
    ["sync", "--account", "ada"],
    ["sync"],
    ["status"],
    ["status", "--account", "ada"],
    ["plan"],
    ["runs", "show", "1"],
    ["show", "brand", `${service.origin}/brands/1`],
    ["search", "Ada"],
    ["query", "select * from brand"],
    ["doctor"],
    ["backup", "--account", "ada", "--to", `${folder.path}/backups`],
  ];
  let shown = "";
  for (const args of commands) {
    const printed = await showInTerminal(args, { env });
    const lines = printed.replaceAll("\r\u001b[2K", "").split(/\r?\n/);
    expect({ args, unsafe: lines.filter((line) => unsafe.test(line)) }).toEqual({ args, unsafe: [] });
    expect({ args, forged: lines.filter((line) => line.startsWith("FORGED")) }).toEqual({ args, forged: [] });
    shown += printed;
  }
  expect(shown.match(/FORGED/g)?.length).toBeGreaterThan(10);
});
