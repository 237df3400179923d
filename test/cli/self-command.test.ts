import { resolve } from "node:path";
import { expect, it } from "vitest";
import { environmentOf } from "../../src/cli/self-command.ts";
import { fakeIo } from "./support/fake-io.ts";

it("paths in the environment of a started command are absolute", () => {
  const env = {
    ARMOIRE_REDIS_URL_FILE: "secrets/redis",
    ARMOIRE_TOKEN_FILE: "/run/token",
    ARMOIRE_APP_KEY_FILE: "",
  };
  const handed = { dataDir: "/data", baseUrl: null, serviceName: null };
  expect(environmentOf(handed, { ...fakeIo(), env })).toEqual({
    ...{ ARMOIRE_REDIS_URL_FILE: resolve("secrets/redis"), ARMOIRE_TOKEN_FILE: "/run/token" },
    ...{ ARMOIRE_APP_KEY_FILE: "", ARMOIRE_DATA_DIR: "/data" },
  });
});
