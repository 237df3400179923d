/** A small account: a user, bras and measurements, as bodies by URL. */
import { entity, page, root, urlOf, worldOf } from "../../mirror/support/world.ts";

export interface AccountWorld {
  /** Number to note. */
  readonly bras?: Readonly<Record<string, string>>;
  readonly measurements?: readonly object[];
  readonly username?: string;
  readonly userId?: number;
}

const twoBras = { "1": "blue", "2": "\ud800 =1+1" };

export function accountWorld({
  bras = twoBras,
  measurements = [{ bust: 90.5, date: "2026-01-01" }],
  username = "ada",
  userId = 7,
}: AccountWorld = {}): Map<string, string> {
  const numbers = Object.keys(bras);
  return worldOf({
    "": root({ me: urlOf("me/") }),
    "me/": entity(
      { username, user_id: userId },
      { bras: urlOf("me/bras/"), measurements: urlOf("me/measurements/") },
    ),
    "me/bras/": page(
      numbers.map((n) => `me/bras/${n}/`),
      null,
      {},
      { collection_total: numbers.length },
    ),
    "me/measurements/": { ...page([]), collection: measurements },
    ...Object.fromEntries(
      numbers.map((n) => [
        `me/bras/${n}/`,
        entity(
          { name: `Bra ${n}`, note: bras[n], multiple_sizes: { UK: "30G", EU: "65I" } },
          { brand: urlOf("brands/a/"), model: null },
        ),
      ]),
    ),
  });
}
