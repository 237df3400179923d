import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** A port that was free just now, for a program that cannot choose one. */
export async function freePort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return String(port);
}
