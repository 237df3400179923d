/** The width of text on a terminal. */

let segmenter: Intl.Segmenter | undefined;

/** Grapheme clusters. The segmenter is created on demand: it is slow to create, and most text needs none. */
function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

/** Cuts a text to a display width, with an ellipsis. */
export function truncate(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let kept = "";
  let width = 1;
  for (const { segment } of segmentsOf(text.slice(0, 2 * columns))) {
    width += displayWidth(segment);
    if (width > columns) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Characters that each take one column and never combine: European letters, dashes, quotes, arrows, lines and ticks. */
const simple =
  /^[\x20-\x7e\xa0-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2027\u2190-\u21ff\u2500-\u257f\u2713\u2717]*$/;

/** The number of columns that a text takes on a terminal. */
export function displayWidth(text: string): number {
  if (simple.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmentsOf(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}
