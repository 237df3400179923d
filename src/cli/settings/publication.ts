/** What a publisher says about an export or a snapshot. */
import { Option } from "commander";
import type { Publication } from "../../../exports/package/descriptor.ts";
import { looksLikeToken } from "../../accounts/account-name.ts";
import { CliError } from "../terminal/exit-codes.ts";
import type { Settings } from "./settings.ts";

export interface PublicationFlags {
  readonly license?: string;
  readonly citation?: string;
}

export const licenseOption = () =>
  new Option("--license <license>", "state a licence: an SPDX identifier, such as CC-BY-4.0, or a URL");

/** @param what the thing that is published, such as `export` */
export const citationOption = (what: string) =>
  new Option("--citation <text>", `state how to cite the ${what}`);

/** From the flags, or else from the configuration file. @throws CliError */
export function readPublication(flags: PublicationFlags, { publication }: Settings): Publication {
  const { license = publication.license, citation = publication.citation } = flags;
  refuseTokenIn(license, "licence");
  refuseTokenIn(citation, "citation");
  if (license !== undefined && !/^[-a-zA-Z0-9._]+$/.test(license) && !URL.canParse(license))
    throw new CliError(
      "usage",
      `${JSON.stringify(license)} is not a licence.`,
      "Give an SPDX identifier, such as CC-BY-4.0, or the URL of the licence.",
    );
  return { ...(license !== undefined && { license }), ...(citation !== undefined && { citation }) };
}

/** Addresses may contain long sequences of letters and digits. @throws CliError, which does not quote the text */
function refuseTokenIn(text: string | undefined, what: string): void {
  const words = text?.split(/\s+/).filter((word) => !URL.canParse(word)) ?? [];
  if (!words.some(looksLikeToken)) return;
  throw new CliError(
    "usage",
    `The ${what} contains what looks like a token, so it is not shown here.`,
    "Leave it out. Others may have read the command line: get a new one.",
  );
}

/** Of a snapshot, which needs one. @throws CliError */
export function requireLicense(flags: PublicationFlags, settings: Settings): string {
  const { license } = readPublication(flags, settings);
  if (license !== undefined) return license;
  const hint = "Check what the service's terms allow, and add --license, such as --license ODbL-1.0.";
  throw new CliError("usage", "A snapshot needs a licence.", hint);
}
