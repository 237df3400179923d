/**
 * Texts that try to be more than text, wherever a page puts them: they call `hit()` or ask `evil.example`. They differ without
 * regard to case, too.
 */

const run = "hit(1)";

const markup = [
  `<script>${run}</script>`,
  `<ScRiPt>hit(2)</sCrIpT>`,
  `</title><script>${run}</script>`,
  `</textarea><script>${run}</script>`,
  `</style><script>${run}</script>`,
  `--><script>${run}</script>`,
  `]]><script>${run}</script>`,
  `<img src=x onerror=${run}>`,
  `<img src="https://evil.example/x.png">`,
  `<svg onload=${run}>`,
  `<svg><script>${run}</script></svg>`,
  `<svg><use href="https://evil.example/x.svg#a"/></svg>`,
  `<math><mtext></mtext><mglyph><style></math><img src onerror=${run}>`,
  `<iframe srcdoc="<script>${run}</script>"></iframe>`,
  `<object data="https://evil.example/"></object>`,
  `<embed src="https://evil.example/">`,
  `<base href="https://evil.example/">`,
  `<meta http-equiv="refresh" content="0;url=https://evil.example/">`,
  `<link rel="stylesheet" href="https://evil.example/x.css">`,
  `<form action="https://evil.example/"><input autofocus onfocus=${run}>`,
  `<details open ontoggle=${run}>`,
  `<b><i></b></table></main></body></html>`,
  `<template><script>${run}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${run}>">`,
  `<a href="https://evil.example/">here</a>`,
];

const attributes = [
  `" onmouseover="${run}`,
  `' onmouseover='${run}`,
  `"><script>${run}</script>`,
  `'><script>${run}</script>`,
  `" autofocus onfocus="${run}" x="`,
  `" style="background:url(https://evil.example/x)`,
  `" src="https://evil.example/x`,
  `\` onmouseover=${run} \``,
  `x onmouseover=${run} y`,
  `"/><img src=x onerror=${run}><x y="`,
  `&quot; onmouseover=&quot;${run}`,
  `&#34;&#62;&#60;script&#62;${run}`,
];

const addresses = [
  `javascript:${run}`,
  `JaVaScRiPt:hit(2)`,
  `\u0001javascript:${run}`,
  `java\nscript:${run}`,
  `data:text/html,<script>${run}</script>`,
  `vbscript:${run}`,
  "//evil.example/x",
  "\\\\evil.example\\x",
  "/../../etc/passwd",
  "..%2f..%2fetc%2fpasswd",
  "?as-of=1&q=x#key=y",
  "https://evil.example/a b",
];

const directions = [
  "\u202egnp.exe",
  "\u202d\u202e\u202a\u202b nested",
  "\u2066\u2067\u2068 isolates without an end",
  "a\u200fb\u200ec",
  "\u061c mark",
  "مشد الورد <b>",
  "עברית\u202c\u202c\u202c",
  "\u2028line\u2029paragraph",
  "zero\u200b\u200c\u200d\ufeffwidth",
  `${"\u0300".repeat(200)}marks`,
];

const templates = [
  `{{constructor.constructor('${run}')()}}`,
  `\${${run}}`,
  `<%= ${run} %>`,
  `#{${run}}`,
  `{%raw%}{{${run}}}`,
  `[[\${${run}}]]`,
  `{{= ${run}}}`,
  "$&$1$`$'$$",
  "%s %d %n %{x}",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
];

const styles = [
  "</style><style>*{background:url(https://evil.example/x)}",
  "x;background:url(https://evil.example/x)",
  "expression(hit(1))",
  "@import 'https://evil.example/x.css';",
  "var(--x,url(https://evil.example/x))",
  "#}*{color:red}",
];

const statements = [
  "'; drop table _brand; --",
  '" or ""="',
  "1; attach 'x' as y",
  "%' union select 1 --",
  "x' /* ",
  "\0after a null",
  "select 1",
  ":brand",
  "[json] -> '$.x'",
];

const formulas = [
  "=1+1",
  "+cmd|' /C calc'!A0",
  "-2+3",
  "@SUM(1+1)",
  "\t=1",
  '=HYPERLINK("https://evil.example/")',
  '=IMPORTXML("https://evil.example/","//a")',
  "|x",
];

const unusual = [
  "\ud800 alone",
  "alone \udfff",
  "\udc00\ud800 reversed",
  "\ud83d broken \ude00",
  `${"long ".repeat(4000)}end`,
  "x".repeat(20_000),
  "<".repeat(5000),
  "a\u0000b\u0007c\u001b[31mred",
  "🏳️‍🌈👩‍👩‍👧‍👦 ‮",
  "\n\n\nlines\r\n",
];

export const hostileTexts: readonly string[] = [
  ...[...markup, ...attributes, ...addresses, ...directions, ...templates],
  ...[...styles, ...statements, ...formulas, ...unusual],
];

/** The same number of them. */
export const harmlessTexts: readonly string[] = hostileTexts.map((_, n) => `Harmless ${n}`);
