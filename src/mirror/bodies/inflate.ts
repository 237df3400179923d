/**
 * Decompresses raw deflate (RFC 1951) of a small body. A stream of Node's zlib allocates tens of kilobytes and several objects:
 * for a body of a kilobyte, that takes twice as long, and collecting the garbage as long again.
 */

/** Codes of up to so many bits are found by one look into a table. */
const quickBits = 9;
const maxCodeBits = 15;
const endOfBlock = 256;

interface Code {
  /** By the next bits of the stream: `symbol << 4 | bits of its code`; 0 for a longer code, or for none. */
  readonly quick: Uint16Array;
  /** The number of symbols whose code has so many bits. */
  readonly counts: Uint16Array;
  /** In the order of their codes. */
  readonly symbols: Uint16Array;
}

const newCode = (symbols: number): Code => ({
  quick: new Uint16Array(1 << quickBits),
  counts: new Uint16Array(maxCodeBits + 1),
  symbols: new Uint16Array(symbols),
});

/** The bits of codes come first bit first. */
const reversed = Uint16Array.from({ length: 1 << quickBits }, (_, bits) =>
  Number.parseInt(bits.toString(2).padStart(quickBits, "0").split("").reverse().join(""), 2),
);

const offsets = new Uint16Array(maxCodeBits + 2);

/** @returns false if no code has these lengths, or if it lacks symbols: only one of a single symbol may do so */
function fillCode({ quick, counts, symbols }: Code, lengths: Uint8Array, from: number, to: number): boolean {
  counts.fill(0);
  for (let n = from; n < to; n++) {
    const length = lengths[n] ?? 0;
    counts[length] = (counts[length] ?? 0) + 1;
  }
  counts[0] = 0;
  offsets[1] = 0;
  let left = 1;
  let longest = 0;
  for (let length = 1; length <= maxCodeBits; length++) {
    const count = counts[length] ?? 0;
    if (count > 0) longest = length;
    left = 2 * left - count;
    offsets[length + 1] = (offsets[length] ?? 0) + count;
  }
  if (left < 0 || (left > 0 && longest > 1)) return false;
  for (let n = from; n < to; n++) {
    const length = lengths[n] ?? 0;
    if (length === 0) continue;
    const place = offsets[length] ?? 0;
    symbols[place] = n - from;
    offsets[length] = place + 1;
  }
  quick.fill(0);
  let code = 0;
  let place = 0;
  for (let length = 1; length <= quickBits; length++, code <<= 1) {
    for (let n = counts[length] ?? 0; n > 0; n--, code++, place++) {
      const entry = ((symbols[place] ?? 0) << 4) | length;
      const first = reversed[code << (quickBits - length)] ?? 0;
      for (let bits = first; bits < 1 << quickBits; bits += 1 << length) quick[bits] = entry;
    }
  }
  return true;
}

/** Of the symbols from 257 on, and of those of distances: the smallest value, and how many bits follow to be added to it. */
const lengthBits = Uint8Array.from({ length: 29 }, (_, n) => (n < 8 || n === 28 ? 0 : (n >> 2) - 1));
const distanceBits = Uint8Array.from({ length: 30 }, (_, n) => (n < 4 ? 0 : (n >> 1) - 1));
const lengthBase = basesOf(lengthBits, 3).with(28, 258);
const distanceBase = basesOf(distanceBits, 1);

function basesOf(bits: Uint8Array, first: number): Uint16Array {
  const bases = new Uint16Array(bits.length);
  let base = first;
  for (const [n, count] of bits.entries()) {
    bases[n] = base;
    base += 1 << count;
  }
  return bases;
}

const fixedLengths = new Uint8Array(288).fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280);
const fixedSymbols = newCode(288);
const fixedDistances = newCode(32);
fillCode(fixedSymbols, fixedLengths, 0, 288);
fillCode(fixedDistances, new Uint8Array(32).fill(5), 0, 32);

/** The order in which the code lengths of a code for code lengths are written. */
const lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const ownLengths = newCode(19);
const ownSymbols = newCode(288);
const ownDistances = newCode(32);
const lengths = new Uint8Array(288 + 32);

/** Above this, zlib is faster. */
export const maxInflatedBytes = 2 ** 16;
const maxDictionaryBytes = 2 ** 15;

/** The dictionary, followed by what is decompressed: matches reach back into both. */
const target = new Uint8Array(maxDictionaryBytes + maxInflatedBytes);
let dictionary: Uint8Array | null = null;
/** What is read and written: a call uses it from its begin to its end. */
let source: Uint8Array = target;
let next = 0;
/** Bits that were taken from the source and not used. */
let held = 0;
let heldBits = 0;
let written = 0;
let end = 0;

/**
 * @param stream what follows its end is ignored
 * @param preset its dictionary
 * @param size at most `maxInflatedBytes`
 * @returns the bytes, valid until the next call; null unless it is a stream of exactly so many
 */
export function inflate(stream: Uint8Array, preset: Uint8Array | null, size: number): Uint8Array | null {
  const begin = preset?.length ?? 0;
  end = begin + size;
  if (begin > maxDictionaryBytes || size > maxInflatedBytes) return null;
  if (preset !== null && preset !== dictionary) target.set(preset);
  dictionary = preset;
  [source, next, held, heldBits, written] = [stream, 0, 0, 0, begin];
  for (let isLast = false; !isLast; ) {
    isLast = takeBits(1) === 1;
    if (!readBlock(takeBits(2))) return null;
  }
  return written === end ? target.subarray(begin, end) : null;
}

/** After the end of the source, bits are 0. @param count at most 16 */
function takeBits(count: number): number {
  while (heldBits < count) {
    held |= (source[next++] ?? 0) << heldBits;
    heldBits += 8;
  }
  const bits = held & ((1 << count) - 1);
  held >>>= count;
  heldBits -= count;
  return bits;
}

function readBlock(type: number): boolean {
  if (type === 0) return copyStored();
  if (type === 1) return readSymbols(fixedSymbols, fixedDistances);
  return type === 2 && readCodes() && readSymbols(ownSymbols, ownDistances);
}

function copyStored(): boolean {
  // Whole bytes that were taken in advance go back.
  next -= heldBits >> 3;
  held = heldBits = 0;
  const length = takeBits(16);
  if ((length ^ takeBits(16)) !== 0xffff || next + length > source.length || written + length > end)
    return false;
  target.set(source.subarray(next, next + length), written);
  next += length;
  written += length;
  return true;
}

/** Reads the codes of a block. */
function readCodes(): boolean {
  const symbols = takeBits(5) + 257;
  const all = symbols + takeBits(5) + 1;
  lengths.fill(0);
  for (const place of lengthOrder.slice(0, takeBits(4) + 4)) lengths[place] = takeBits(3);
  if (symbols > 286 || all - symbols > 30 || !fillCode(ownLengths, lengths, 0, 19)) return false;
  for (let n = 0; n < all; ) {
    const symbol = takeSymbol(ownLengths);
    if (symbol < 0 || (symbol === 16 && n === 0)) return false;
    const value = symbol < 16 ? symbol : symbol === 16 ? (lengths[n - 1] ?? 0) : 0;
    const repeated =
      symbol < 16 ? 1 : symbol === 16 ? 3 + takeBits(2) : symbol === 17 ? 3 + takeBits(3) : 11 + takeBits(7);
    if (n + repeated > all) return false;
    lengths.fill(value, n, n + repeated);
    n += repeated;
  }
  return (
    lengths[endOfBlock] !== 0 &&
    fillCode(ownSymbols, lengths, 0, symbols) &&
    fillCode(ownDistances, lengths, symbols, all)
  );
}

/** -1 if the bits are no code. */
function takeSymbol(code: Code): number {
  while (heldBits < maxCodeBits) {
    held |= (source[next++] ?? 0) << heldBits;
    heldBits += 8;
  }
  const entry = code.quick[held & ((1 << quickBits) - 1)] || findLong(code, held);
  held >>>= entry & 15;
  heldBits -= entry & 15;
  return entry === 0 ? -1 : entry >> 4;
}

/** As an entry of `quick`; 0 for none. */
function findLong({ counts, symbols }: Code, bits: number): number {
  let code = 0;
  let first = 0;
  let place = 0;
  for (let length = 1; length <= maxCodeBits; length++) {
    code |= (bits >> (length - 1)) & 1;
    const count = counts[length] ?? 0;
    if (code < first + count) return ((symbols[place + code - first] ?? 0) << 4) | length;
    place += count;
    first = 2 * (first + count);
    code <<= 1;
  }
  return 0;
}

/** Reads a block to its end. Nearly all of the time goes here, so the state is in local variables. */
function readSymbols(symbols: Code, distances: Code): boolean {
  const [from, to, mask] = [source, target, (1 << quickBits) - 1];
  let [bits, count, at, place] = [held, heldBits, next, written];
  for (;;) {
    // Enough for a code and what follows it.
    while (count < maxCodeBits + 5) {
      bits |= (at < from.length ? (from[at] ?? 0) : 0) << count;
      at++;
      count += 8;
    }
    let entry = symbols.quick[bits & mask] || findLong(symbols, bits);
    bits >>>= entry & 15;
    count -= entry & 15;
    const symbol = entry >> 4;
    if (symbol < endOfBlock) {
      if (entry === 0 || place >= end) return false;
      to[place++] = symbol;
      continue;
    }
    if (symbol === endOfBlock) break;
    const n = symbol - endOfBlock - 1;
    let more = lengthBits[n] ?? 0;
    const length = (lengthBase[n] ?? 0) + (bits & ((1 << more) - 1));
    bits >>>= more;
    count -= more;
    // For the longest code of a distance and what follows it, as far as 32 bits can hold them.
    while (count < maxCodeBits) {
      bits |= (at < from.length ? (from[at] ?? 0) : 0) << count;
      at++;
      count += 8;
    }
    entry = distances.quick[bits & mask] || findLong(distances, bits);
    bits >>>= entry & 15;
    count -= entry & 15;
    more = distanceBits[entry >> 4] ?? 0;
    while (count < more) {
      bits |= (at < from.length ? (from[at] ?? 0) : 0) << count;
      at++;
      count += 8;
    }
    const distance = (distanceBase[entry >> 4] ?? 0) + (bits & ((1 << more) - 1));
    bits >>>= more;
    count -= more;
    const stop = place + length;
    // Symbols without a meaning have the length or the distance 0.
    if (entry === 0 || length === 0 || distance === 0 || distance > place || stop > end) return false;
    let copied = place - distance;
    if (length > longMatch && distance >= length) {
      to.copyWithin(place, copied, copied + length);
      place = stop;
    }
    while (place < stop) to[place++] = to[copied++] ?? 0;
  }
  [held, heldBits, next, written] = [bits, count, at, place];
  return next - (heldBits >> 3) <= from.length;
}

/** From about here, a call takes less time than a loop. */
const longMatch = 32;
