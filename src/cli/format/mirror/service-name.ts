/** Says how to repair a mirror whose service has another name than was given. */
import { kinds } from "../../../../jobs/kinds.ts";
import { findServiceName } from "../../../mirror/derive/service-name.ts";
import { readMirror } from "../../../mirror/reader.ts";
import { escapeControls } from "../../terminal/safe-text.ts";

/** The fix if the service has another name than the mirror; empty otherwise. */
export function describeServiceName(file: string, account: string | null): string {
  const { found, current } = readMirror(file, (mirror) => ({
    found: findServiceName(mirror, kinds),
    current: mirror.identity.serviceName,
  }));
  if (found === null) return "";
  const commands =
    account === null
      ? `\`armoire mirror rebuild --mirror '${escapeControls(file)}' --service-name ${found}\``
      : `\`armoire account add ${account} --service-name ${found}\` and \`armoire mirror rebuild --account ${account}\``;
  return (
    `Warning: service_url is empty in every row, since the service sends ${found}_url, not ${current}_url.\n` +
    `Run ${commands}; no data is requested again.\n`
  );
}
