/** A worker with a wrong credential says so, without a request of its own. */
import { expect, it } from "vitest";
import { bearerToken } from "../../../../src/service/credentials/credential.ts";
import { jsonResponse, startRawServer } from "../../../support/raw-server.ts";
import { startDashboardWorker } from "../../../support/workers.ts";
import { startBullmqRig } from "../../support/bullmq-rig.ts";

async function readHealth(url: string) {
  const response = await fetch(`${url}healthz`);
  const { problems, warnings } = (await response.json()) as { problems: string[]; warnings: string[] };
  return { status: response.status, problems, warnings };
}

it("/healthz reports a credential that the service refuses, until it is accepted", async () => {
  await using rig = await startBullmqRig();
  let isRefused = true;
  let requests = 0;
  await using service = await startRawServer((_request, socket) => {
    requests++;
    socket.write(jsonResponse({ rel: "entity" }, {}, isRefused ? 401 : 200));
  });
  const credential = bearerToken("canary-0123-4567");
  const ada = { name: "ada", baseUrl: `${service.origin}/`, credential };
  await using worker = await startDashboardWorker(rig.redis, [ada]);
  expect(await readHealth(worker.url)).toEqual({ status: 200, problems: [], warnings: [] });
  expect(requests).toBe(0);
  const transport = await rig.startCoordinator(ada);
  const request = { url: `${service.origin}/me`, condition: [], signal: undefined };
  await transport.send(request);
  expect(await readHealth(worker.url)).toMatchObject({
    ...{ status: 503, problems: ["the service refuses the credential of ada"] },
  });
  isRefused = false;
  await transport.send(request);
  expect(await readHealth(worker.url)).toMatchObject({ status: 200, problems: [] });
});

it("/healthz and the log warn when requests wait for workers with another credential", async () => {
  await using rig = await startBullmqRig();
  const ada = (token: string) => ({
    name: "ada",
    baseUrl: "http://127.0.0.1:9/",
    credential: bearerToken(token),
  });
  const transport = await rig.startCoordinator(ada("canary-0123-4567"));
  const cancel = new AbortController();
  const sent = transport.send({ url: "http://127.0.0.1:9/me", condition: [], signal: cancel.signal });
  await expect.poll(() => rig.redis.admin.keys("*fetch-ada*:wait")).toHaveLength(1);
  const logged: string[] = [];
  await using worker = await startDashboardWorker(
    rig.redis,
    [ada("canary-89ab-cdef")],
    {},
    (text) => void logged.push(text),
  );
  await expect
    .poll(async () => (await readHealth(worker.url)).warnings)
    .toEqual(["requests for ada wait for workers with another credential"]);
  expect(logged).toEqual([
    "Requests for ada wait for workers with another credential than this worker's. Give it the same.",
  ]);
  cancel.abort();
  await sent;
});
