import { ServiceSettingsError } from "./errors.ts";

const hint = "Give the address of the service's root, such as https://api.example.org/.";

/**
 * The origin of a base URL, in the spelling that all links are compared with.
 * @throws ServiceSettingsError
 */
export function readOriginOrThrow(baseUrl: string): string {
  const url = URL.parse(baseUrl);
  const problem = url === null ? "is not an absolute URL" : problemOf(url);
  if (url === null || problem !== null)
    throw new ServiceSettingsError("bad-base-url", `The base URL ${problem}.`, hint);
  return url.origin;
}

function problemOf({ protocol, username, password }: URL): string | null {
  if (protocol !== "http:" && protocol !== "https:")
    return `starts with ${protocol} instead of https: or http:`;
  return username !== "" || password !== "" ? "holds a user name or password" : null;
}
