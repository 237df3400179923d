/** Values in the encodings of Parquet: growing lists, whose memory is used again. */

const firstBytes = 4_096;
/** A longer list gives its memory back. URLs of a whole row group take more than a mebibyte. */
const keptBytes = 2_097_152;
/** UTF-8 takes at most as many bytes for a UTF-16 code unit. */
const bytesPerUnit = 3;

/** Values encoded as PLAIN, which are little-endian. */
export class ByteList {
  #bytes = Buffer.allocUnsafeSlow(firstBytes);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** After its length. */
  addText(text: string): void {
    this.#reserve(4 + text.length * bytesPerUnit);
    const written = this.#bytes.write(text, this.#length + 4);
    this.#bytes.writeUInt32LE(written, this.#length);
    this.#length += 4 + written;
  }

  addInteger(value: bigint): void {
    this.#reserve(8);
    this.#length = this.#bytes.writeBigInt64LE(value, this.#length);
  }

  addDouble(value: number): void {
    this.#reserve(8);
    this.#length = this.#bytes.writeDoubleLE(value, this.#length);
  }

  addByte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  add(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Its bytes, which are not copied: they stay as they are until the next value. Then it is empty. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length);
    this.#length = 0;
    if (this.#bytes.length > keptBytes) this.#bytes = Buffer.allocUnsafeSlow(firstBytes);
    return taken;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, needed));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** The first is the lowest bit of the first byte. */
export class BitList {
  readonly #bytes = new ByteList();
  #pending = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(bit: boolean): void {
    if (bit) this.#pending |= 1 << (this.#length & 7);
    this.#length++;
    if ((this.#length & 7) === 0) this.#flush();
  }

  #flush(): void {
    this.#bytes.addByte(this.#pending);
    this.#pending = 0;
  }

  /** Its bytes, the last one filled with zeros, until the next bit; then it is empty. */
  take(): Uint8Array {
    if ((this.#length & 7) !== 0) this.#flush();
    this.#length = 0;
    return this.#bytes.take();
  }
}
