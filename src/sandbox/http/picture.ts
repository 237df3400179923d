/** Generated pictures: one colour each, derived from the address, so that each version looks different. */
import { hash } from "node:crypto";
import { crc32, deflateSync } from "node:zlib";
import { type Content, type EtagStyle, etagOf } from "./content.ts";
import type { Reply } from "./reply.ts";

const sidePixels = 16;

/** Always a PNG, whatever extension the address has: services do that too. */
export function createPicture(path: string, etagStyle: EtagStyle): Content {
  const body = solidPng(hash("sha256", path, "buffer").subarray(0, 3));
  const etag = etagOf(body, etagStyle);
  const plain: Reply = {
    status: 200,
    headers: [
      "Content-Type",
      "image/png",
      "Content-Length",
      String(body.length),
      ...(etag === null ? [] : ["ETag", etag]),
    ],
    body,
  };
  return { plain, gzipped: () => plain };
}

/** @param colour red, green and blue, one byte each */
function solidPng(colour: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(sidePixels, 0);
  header.writeUInt32BE(sidePixels, 4);
  // Eight bits a sample, red, green and blue.
  header.set([8, 2], 8);
  const row = Buffer.concat([Buffer.alloc(1), ...Array.from({ length: sidePixels }, () => colour)]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: sidePixels }, () => row)));
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", pixels),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
