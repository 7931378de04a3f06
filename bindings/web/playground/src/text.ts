// Positions and characters: bytes and lines to places in an editor, and what can't be seen made visible.

/** Places in a text, in UTF-16 units, of places in its UTF-8 form. Both ascend. */
export function fromBytes(text: string, offsets: number[]): number[] {
  const places: number[] = [];
  let bytes = 0;
  let at = 0;
  for (const offset of offsets) {
    while (bytes < offset && at < text.length) {
      const code = text.codePointAt(at) ?? 0;
      // A lone half of a pair is sent as U+FFFD, which has three bytes like every other such unit.
      bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      at += code < 0x10000 ? 1 : 2;
    }
    places.push(at);
  }
  return places;
}

/** The place of a line and a column, both from 1, in a line's text: columns count characters. */
export function inLine(line: string, column: number): number {
  let at = 0;
  for (let left = column - 1; left > 0 && at < line.length; left--) {
    at += (line.codePointAt(at) ?? 0) < 0x10000 ? 1 : 2;
  }
  return at;
}

// Control characters, what changes the direction of text, and what has no width.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A stranger's text on one line, at most so long, with nothing in it that can't be seen. */
export function visible(text: string, most: number): string {
  const cut = text.length > most ? `${text.slice(0, most)}…` : text;
  return cut.toWellFormed().replace(HIDDEN, (hidden) => `\\u{${hidden.charCodeAt(0).toString(16)}}`);
}

/** The beginning of a digest. */
export function short(digest: string): string {
  return digest.slice(0, 12);
}

/** A sentence with a capital letter. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
