/** Bytes from beginning to end, as many at a time as are asked for. */
export interface ByteReader {
  /** The next `count` bytes; fewer only where there are no more. No more memory is taken than there are bytes. */
  take(count: number): Promise<Buffer>;
  /** Of the next byte, from 0. */
  readonly position: () => number;
}

export function byteReader(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): ByteReader {
  const iterator =
    Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
  let rest = Buffer.alloc(0);
  let position = 0;
  return {
    position: () => position,
    async take(count) {
      if (rest.length < count) {
        const parts = [rest];
        let length = rest.length;
        while (length < count) {
          const next = await iterator.next();
          if (next.done) break;
          const { buffer, byteOffset, byteLength } = next.value;
          parts.push(Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength));
          length += byteLength;
        }
        rest = parts.length === 1 ? rest : Buffer.concat(parts);
      }
      const taken = rest.subarray(0, count);
      rest = rest.subarray(taken.length);
      position += taken.length;
      return taken;
    },
  };
}
