/**
 * `dying-process.ts add|remove DATA_DIR NAME N`: adds an account with its token in a file, or removes an account with its
 * data, and kills itself before its Nth change of a file or folder.
 */
import { dieBeforeChange } from "../../support/die-before-change.ts";

const [action = "", dataDir = "", name = "", countdown = ""] = process.argv.slice(2);
dieBeforeChange(Number(countdown), [
  "mkdirSync",
  "rmSync",
  "unlinkSync",
  "rmdirSync",
  "writeSync",
  "writeFileSync",
  "renameSync",
  "fsyncSync",
]);

const { storeToken } = await import("../../../src/accounts/tokens/tokens.ts");
const { removeAccount } = await import("../../../src/accounts/remove-account.ts");
const { bearerToken } = await import("../../../src/service/credentials/credential.ts");
const { factsOf, noKeychain, someTime } = await import("./account-rig.ts");
if (action === "add") await storeToken(dataDir, factsOf(name), bearerToken("canary-token-0002"), noKeychain);
else await removeAccount({ dataDir, name, purge: true, keychain: noKeychain, startedAt: someTime });
