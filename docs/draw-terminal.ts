/**
 * Draws a terminal as SVG, for the README. In: coloured output of a program on stdin, and as arguments the headings (bold
 * lines) of sections to omit. Out: the picture on stdout:
 *
 *     FORCE_COLOR=1 npm run --silent demo | npx node docs/draw-terminal.ts "What the mirror holds" "The changes" > docs/terminal.svg
 */
import { text } from "node:stream/consumers";

const columns = 118;
const [charWidth, lineHeight, margin, barHeight] = [7.8, 19, 18, 34];
/** CSS classes by SGR parameter; all others are plain. */
const styles: Readonly<Record<string, string>> = { 1: "bold", 2: "dim", 31: "bad", 32: "good", 36: "typed" };
const css = `text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d8dee9 }
.bold { font-weight: 700; fill: #fff } .dim { fill: #7b8698 } .typed { fill: #8fd3e8 } .good { fill: #a3d98b } .bad { fill: #f08a8a }`;

const bold = "\u001b[1m";
const omitted = process.argv.slice(2);
const sections = (await text(process.stdin)).trim().split(`\n${bold}`);
const lines = sections
  .filter((section) => !omitted.some((heading) => section.startsWith(heading)))
  .join(`\n${bold}`)
  .split("\n")
  .flatMap(wrap);
const width = Math.ceil(columns * charWidth + 2 * margin);
const height = lines.length * lineHeight + 2 * margin + barHeight;
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>armoire: a first sync, the export, and a second sync that costs a fraction of the first</title>
<style>${css}</style>
<rect width="100%" height="100%" rx="8" fill="#1b2029"/>
${["#f0605a", "#f5bd4f", "#61c554"].map((fill, n) => `<circle cx="${22 + n * 20}" cy="20" r="6" fill="${fill}"/>`).join("")}
${lines.map(drawLine).join("\n")}
</svg>
`);

function drawLine(line: string, index: number): string {
  const spans = line.split("\u001b[").map((part, n) => {
    const [, parameter = "", shown = part] = n === 0 ? [] : (/^(\d*)m(.*)$/s.exec(part) ?? []);
    const style = styles[parameter];
    return style === undefined ? escapeXml(shown) : `<tspan class="${style}">${escapeXml(shown)}</tspan>`;
  });
  const y = barHeight + margin + index * lineHeight;
  return `<text x="${margin}" y="${y}">${spans.join("")}</text>`;
}

/** Wraps long lines, as a terminal does. Coloured lines are never that long. */
function wrap(line: string): string[] {
  if (line.includes("\u001b") || line.length <= columns) return [line];
  return [line.slice(0, columns), ...wrap(line.slice(columns))];
}

function escapeXml(shown: string): string {
  return shown.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
