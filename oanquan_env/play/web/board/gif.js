// GIF89a encoder: pictures share one palette; each stores only the box that differs from the previous picture, packed
// by LZW.

const TRANSPARENT = 0;

/** A looping animation of `width` x `height` pixels; `colours` are at most 255 entries [r, g, b]. */
export class Gif {
  constructor(width, height, colours) {
    Object.assign(this, { width, height, colours, bits: Math.max(2, Math.ceil(Math.log2(colours.length + 1))) });
    this.bytes = [];
    this.nearest = new Uint8Array(1 << 18); // cache: six bits of each channel -> colour number, 0 if not yet looked up
    // code of a sequence and next colour number -> 4096 * turn + code of the longer sequence
    this.known = new Int32Array(4096 << this.bits);
    this.turn = 0; // distinguishes entries of the present table from those of earlier tables
    this.before = null;
    this.text("GIF89a");
    this.words(width, height);
    this.bytes.push(0xf0 | (this.bits - 1), TRANSPARENT, 0);
    for (let index = 0; index < 1 << this.bits; index++) this.bytes.push(...(colours[index - 1] ?? [0, 0, 0]));
    this.bytes.push(0x21, 0xff, 11);
    this.text("NETSCAPE2.0");
    this.bytes.push(3, 1, 0, 0, 0);
  }

  text(letters) {
    for (const letter of letters) this.bytes.push(letter.charCodeAt(0));
  }

  words(...values) {
    for (const value of values) this.bytes.push(value & 255, value >> 8);
  }

  /** Add a picture, RGBA bytes of all its pixels, and how long to show it. */
  add(pixels, milliseconds) {
    const { width, height, before } = this,
      now = new Uint8Array(width * height);
    for (let at = 0, pixel = 0; at < now.length; at++, pixel += 4)
      now[at] = this.indexOf(pixels[pixel], pixels[pixel + 1], pixels[pixel + 2]);
    let [left, top, right, foot] = before ? [width, height, 0, 0] : [0, 0, width - 1, height - 1];
    for (let at = 0; before && at < now.length; at++) {
      if (now[at] === before[at]) continue;
      const x = at % width,
        y = (at - x) / width;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      foot = y;
    }
    if (left > right) [left, top, right, foot] = [0, 0, 0, 0]; // no pixel differs
    const box = new Uint8Array((right - left + 1) * (foot - top + 1));
    for (let y = top, to = 0; y <= foot; y++) {
      for (let at = y * width + left; at <= y * width + right; at++)
        box[to++] = before?.[at] === now[at] ? TRANSPARENT : now[at];
    }
    this.before = now;
    this.bytes.push(0x21, 0xf9, 4, 0x05); // keep the previous picture, and make one colour transparent
    this.words(Math.round(milliseconds / 10));
    this.bytes.push(TRANSPARENT, 0, 0x2c);
    this.words(left, top, right - left + 1, foot - top + 1);
    this.bytes.push(0, this.bits);
    this.pack(box);
  }

  /** Return the number of the nearest colour in the palette. */
  indexOf(red, green, blue) {
    const key = ((red >> 2) << 12) | ((green >> 2) << 6) | (blue >> 2);
    if (!this.nearest[key]) {
      let least = Infinity;
      for (const [index, [r, g, b]] of this.colours.entries()) {
        const distance = 3 * (r - red) ** 2 + 6 * (g - green) ** 2 + (b - blue) ** 2;
        if (distance < least) {
          least = distance;
          this.nearest[key] = index + 1;
        }
      }
    }
    return this.nearest[key];
  }

  /** Compress colour numbers by LZW, in blocks of at most 255 bytes. */
  pack(numbers) {
    const { bits, bytes, known } = this,
      clear = 1 << bits;
    let size = bits + 1,
      next = clear + 2,
      turn = ++this.turn,
      held = 0,
      count = 0,
      block = bytes.push(0) - 1;
    const byte = (value) => {
      if (bytes[block] === 255) block = bytes.push(0) - 1;
      bytes[block] += 1;
      bytes.push(value);
    };
    const write = (code) => {
      held |= code << count;
      for (count += size; count >= 8; count -= 8, held >>= 8) byte(held & 255);
    };
    write(clear);
    let prefix = numbers[0];
    for (let at = 1; at < numbers.length; at++) {
      const key = (prefix << bits) | numbers[at],
        found = known[key];
      if (found >> 12 === turn) {
        prefix = found & 4095;
        continue;
      }
      write(prefix);
      prefix = numbers[at];
      if (next === 4096) {
        write(clear);
        [size, next, turn] = [bits + 1, clear + 2, ++this.turn];
        continue;
      }
      if (next === 1 << size) size += 1;
      known[key] = (turn << 12) | next++;
    }
    write(prefix);
    write(clear + 1);
    if (count) byte(held & 255);
    bytes.push(0);
  }

  /** Return the whole file. */
  end() {
    this.bytes.push(0x3b);
    return Uint8Array.from(this.bytes);
  }
}
