/** Bodies of a list of brands that come close to a limit, or exceed one. */
const bytes = 16 * 1024 * 1024 - 4096;

const list = (items: string, more = "") =>
  `{"rel":"collection","spec":null,"links":{},"meta":{"paginated":false,"next":null}${more},"collection":[${items}]}`;

/** @param textOf by position @param separator between them */
function repeat(textOf: (n: number) => string, count: number): string {
  return Array.from({ length: count }, (_, n) => textOf(n)).join(",");
}

/** A text that fills what is left of the largest body, in characters of two bytes. */
const filler = (used: number) => "\u00e9".repeat(Math.floor((bytes - used) / 2));

export interface HostileBody {
  readonly text: string;
  /** Whether it exceeds a limit. */
  readonly isRefused: boolean;
}

export const hostileBodies: Readonly<Record<string, () => HostileBody>> = {
  "as many items as allowed, with long names": () => {
    const name = filler(20_000 * 70).slice(0, 350);
    return within(list(repeat((n) => `{"href":"brands/${n}/","name":"${name}${n}"}`, 20_000)));
  },
  "as many items as allowed, all of wrong types": () =>
    within(list(repeat(() => `{"href":[],"name":{},"service_url":7}`, 20_000))),
  "as many items as allowed, all of one resource": () =>
    within(list(repeat((n) => `{"href":"brands/1/","name":"Brand ${n} ${"x".repeat(700)}"}`, 20_000))),
  "too many items": () => refused(list(repeat((n) => `{"href":"${n}"}`, 720_000))),
  "too many lists": () => refused(list("", `,"more":[${repeat(() => "[]", 5_000_000)}]`)),
  "too many objects": () => refused(list("", `,"more":[${repeat(() => "{}", 5_000_000)}]`)),
  "too many links": () =>
    refused(list("").replace('"links":{}', `"links":{${repeat((n) => `"l${n}":"brands/${n}/"`, 100_000)}}`)),
  "as many unknown fields as allowed": () =>
    within(list("", `,${repeat((n) => `"field ${n}":${n}`, 295_000)}`)),
  "as many lists as allowed": () => within(list("", `,"more":[${repeat(() => "[[],[]]", 72_000)}]`)),
  "one long name": () => within(list(`{"href":"brands/1/","name":"${filler(4096)}"}`)),
  "one long name of escapes": () =>
    within(list(`{"href":"brands/1/","name":"${"\\ud800".repeat(2_700_000)}"}`)),
  "one long name of line ends and nested escapes": () =>
    within(list(`{"href":"brands/1/","name":"${"\\n%25\\\\n".repeat(2_000_000)}"}`)),
  "one long link": () => within(list(`{"href":"${filler(4096)}","name":"a"}`)),
  "one long number": () => within(list("", `,"more":${"7".repeat(bytes - 4096)}`)),
  "too many long numbers": () =>
    refused(list("", `,"more":[${repeat((n) => `0.${String(n).padStart(36, "7")}`, 390_000)}]`)),
  "as many long numbers as allowed": () =>
    within(list("", `,"more":[${repeat((n) => `0.${String(n).padStart(750, "7")}`, 20_000)}]`)),
  "as many lists as allowed, and a long number": () =>
    within(list("", `,"more":[${repeat(() => "[[],[]]", 72_000)}],"long":1e400`)),
  "as many fields as allowed, with as many long numbers": () =>
    within(
      list("", `,${repeat((n) => `"field ${n}":${n}${n % 15 === 0 ? ".12345678901234567" : ""}`, 295_000)}`),
    ),
  "one long name of a field": () => within(list("", `,"${filler(4096)}":1`)),
};

const within = (text: string): HostileBody => ({ text, isRefused: false });
const refused = (text: string): HostileBody => ({ text, isRefused: true });
