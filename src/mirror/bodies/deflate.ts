/**
 * Compresses small bodies to raw deflate (RFC 1951), with fixed codes. For each body, zlib makes a stream and reads the whole
 * dictionary anew, which takes most of its time; here a dictionary is read once. Codes of its own would cost a small body about
 * as much as they save.
 */

/** Above this, codes of its own make a body smaller. */
export const maxDeflatedBytes = 2048;
/** With this and a body, a place in the window fits into 15 bits, and so does each distance. */
const maxDictionaryBytes = 30_000;

const minMatch = 3;
const maxMatch = 258;
/** So many earlier places with the same hash are compared, and fewer after a good match: the limits of zlib's level 6. */
const maxChain = 128;
const goodMatch = 8;
const niceMatch = 128;
const maxLazyMatch = 16;
/** A match of three bytes that is further away takes more space than the bytes. */
const maxShortDistance = 4096;

const hashBits = 12;
const none = -1;

/** A code, its lowest bit first, with the bits that follow it. */
interface Codes {
  readonly bits: Uint32Array;
  readonly counts: Uint8Array;
}

const newCodes = (length: number): Codes => ({
  bits: new Uint32Array(length),
  counts: new Uint8Array(length),
});

function reverse(bits: number, count: number): number {
  let reversed = 0;
  for (let n = 0; n < count; n++) reversed |= ((bits >> n) & 1) << (count - 1 - n);
  return reversed;
}

/** The fixed code of a literal or length (section 3.2.6). */
function fixedCode(symbol: number): [bits: number, count: number] {
  if (symbol < 144) return [reverse(0x30 + symbol, 8), 8];
  if (symbol < 256) return [reverse(0x190 + symbol - 144, 9), 9];
  if (symbol < 280) return [reverse(symbol - 256, 7), 7];
  return [reverse(0xc0 + symbol - 280, 8), 8];
}

const literals = newCodes(257);
for (let symbol = 0; symbol <= 256; symbol++) {
  [literals.bits[symbol], literals.counts[symbol]] = fixedCode(symbol);
}

/** Whole codes by length. */
const lengths = newCodes(maxMatch + 1);
for (let symbol = 257, from = minMatch; symbol <= 285; symbol++) {
  const extra = symbol < 265 || symbol === 285 ? 0 : (symbol - 261) >> 2;
  const first = symbol === 285 ? maxMatch : from;
  const [bits, count] = fixedCode(symbol);
  for (let n = 0; n < 1 << extra && first + n <= maxMatch; n++) {
    lengths.bits[first + n] = bits | (n << count);
    lengths.counts[first + n] = count + extra;
  }
  from += 1 << extra;
}

/** By distance code: its first distance, and the number of bits that are added to it. */
const distanceBase = new Uint16Array(30);
const distanceBits = new Uint8Array(30);
for (let code = 0, from = 1; code < 30; code++) {
  distanceBase[code] = from;
  distanceBits[code] = code < 4 ? 0 : (code >> 1) - 1;
  from += 1 << (distanceBits[code] ?? 0);
}

/** The distance code follows from the position of the highest bit, and from the next one. */
function distanceCode(distance: number): number {
  if (distance <= 4) return distance - 1;
  const highest = 31 - Math.clz32(distance - 1);
  return 2 * highest + (((distance - 1) >> (highest - 1)) & 1);
}

/** A dictionary with room for a body behind it, and its places by hash. */
interface Window {
  readonly bytes: Uint8Array;
  /** The last place in the dictionary with each hash. */
  readonly heads: Int16Array;
  /** For each place, the one before it with the same hash. */
  readonly before: Int16Array;
}

const windows = new WeakMap<Uint8Array, Window>();

function windowOf(dictionary: Uint8Array): Window {
  const known = windows.get(dictionary);
  if (known !== undefined) return known;
  const size = dictionary.length + maxDeflatedBytes;
  const bytes = new Uint8Array(size);
  bytes.set(dictionary);
  const window = {
    bytes,
    heads: new Int16Array(1 << hashBits).fill(none),
    before: new Int16Array(size).fill(none),
  };
  for (let place = 0; place + minMatch <= dictionary.length; place++) {
    insert(window.bytes, window.heads, window.before, place);
  }
  windows.set(dictionary, window);
  return window;
}

/** @returns the last place before with the same hash */
function insert(bytes: Uint8Array, heads: Int16Array, before: Int16Array, place: number): number {
  const three =
    (bytes[place] as number) | ((bytes[place + 1] as number) << 8) | ((bytes[place + 2] as number) << 16);
  const hash = Math.imul(three, 0x9e3779b1) >>> (32 - hashBits);
  const last = heads[hash] as number;
  before[place] = last;
  heads[hash] = place;
  return last;
}

const heads = new Int16Array(1 << hashBits);
const output = new Uint8Array(Math.ceil((maxDeflatedBytes * 9) / 8) + 8);

/** Null if the body or the dictionary is too large. */
export function deflate(body: Uint8Array, dictionary: Uint8Array): Buffer | null {
  if (body.length > maxDeflatedBytes || dictionary.length > maxDictionaryBytes) return null;
  const window = windowOf(dictionary);
  const { bytes, before } = window;
  const start = dictionary.length;
  const end = start + body.length;
  bytes.set(body, start);
  heads.set(window.heads);

  let size = 0;
  // A last block with fixed codes.
  let pending = 0b011;
  let pendingBits = 3;
  const write = (bits: number, count: number): void => {
    pending |= bits << pendingBits;
    pendingBits += count;
    for (; pendingBits >= 8; pendingBits -= 8, pending >>>= 8) output[size++] = pending & 0xff;
  };

  let foundLength = 0;
  let foundAt = none;
  /** Looks for a match at a place that is longer than `longest`. */
  const find = (place: number, first: number, longest: number): void => {
    foundLength = longest;
    foundAt = none;
    const limit = Math.min(maxMatch, end - place);
    if (limit <= longest) return;
    let candidate = first;
    for (let left = longest >= goodMatch ? maxChain >> 2 : maxChain; candidate >= 0 && left > 0; left--) {
      if (bytes[candidate + foundLength] === bytes[place + foundLength]) {
        let length = 0;
        while (length < limit && bytes[candidate + length] === bytes[place + length]) length++;
        if (length > foundLength) {
          foundLength = length;
          foundAt = candidate;
          if (length >= niceMatch || length === limit) break;
        }
      }
      candidate = before[candidate] as number;
    }
    if (foundLength === minMatch && place - foundAt > maxShortDistance) foundAt = none;
  };

  // A match waits for the next place, where a longer one may begin.
  let waitingLength = 0;
  let waitingAt = none;
  for (let place = start; place < end; ) {
    const last = place + minMatch <= end ? insert(bytes, heads, before, place) : none;
    if (waitingLength >= maxLazyMatch) foundAt = none;
    else find(place, last, Math.max(waitingLength, minMatch - 1));
    if (foundAt >= 0) {
      if (waitingAt >= 0) writeLiteral(place - 1);
      waitingLength = foundLength;
      waitingAt = foundAt;
      place++;
      continue;
    }
    if (waitingAt >= 0) {
      const begin = place - 1;
      write(lengths.bits[waitingLength] as number, lengths.counts[waitingLength] as number);
      const distance = begin - waitingAt;
      const code = distanceCode(distance);
      const added = distance - (distanceBase[code] as number);
      write(reverse(code, 5) | (added << 5), 5 + (distanceBits[code] as number));
      const next = begin + waitingLength;
      for (place++; place < next; place++) {
        if (place + minMatch <= end) insert(bytes, heads, before, place);
      }
      waitingLength = 0;
      waitingAt = none;
      continue;
    }
    writeLiteral(place);
    place++;
  }
  write(literals.bits[256] as number, literals.counts[256] as number);
  write(0, 7);
  return Buffer.from(output.subarray(0, size));

  function writeLiteral(place: number): void {
    const byte = bytes[place] as number;
    write(literals.bits[byte] as number, literals.counts[byte] as number);
  }
}
