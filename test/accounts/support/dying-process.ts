/**
 * `dying-process.ts add|remove DATA_DIR NAME N`: adds an account with its token in a file, or removes an account with its
 * data, and kills itself before its Nth change of a file or folder.
 */
import { removeAccount } from "../../../src/accounts/remove-account.ts";
import { storeToken } from "../../../src/accounts/tokens/tokens.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { dieBeforeChange } from "../../support/die-before-change.ts";
import { factsOf, noKeychain, someTime } from "./facts.ts";

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

if (action === "add") await storeToken(dataDir, factsOf(name), bearerToken("canary-token-0002"), noKeychain);
else await removeAccount({ dataDir, name, purge: true, keychain: noKeychain, startedAt: someTime });
