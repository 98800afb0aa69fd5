"""The page's one style sheet: calm on a screen, light or dark, on a phone and on paper."""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fdfdfb; --card: #f4f4f0; --ink: #1d2329; --soft: #5b646d; --line: #dcded9;
  --one: #0b62a4; --two: #c2500a; --three: #08795a; --four: #8a4b8f; --five: #7a6a00; --six: #4a4f55;
  --good: #08795a; --bad: #c2500a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181b; --card: #1e2226; --ink: #e6e8ea; --soft: #a2abb3; --line: #363c42;
    --one: #6db6ee; --two: #f4a261; --three: #5ecfa6; --four: #d3a0d8; --five: #d8c75a; --six: #b9bfc5;
    --good: #5ecfa6; --bad: #f4a261;
  }
}
* { box-sizing: border-box; }
html { font-size: 100%; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 58rem; padding: 2.5rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: anywhere;
}
h1, h2, h3 { line-height: 1.2; font-weight: 650; letter-spacing: -.01em; overflow-wrap: anywhere; }
h1 { font-size: 2rem; margin: .2rem 0 .6rem; }
h2 { font-size: 1.4rem; margin: 3.2rem 0 .8rem; padding-top: 1.2rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; }
p { margin: .5rem 0 .9rem; max-width: 42rem; }
a { color: var(--one); text-decoration-thickness: 1px; text-underline-offset: .18em; }
.over { color: var(--soft); font-size: .85rem; letter-spacing: .08em; text-transform: uppercase; margin: 0; }
.lead { font-size: 1.125rem; }
.soft, .note { color: var(--soft); }
.note { font-size: .9rem; }
.cards { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); margin: 1.6rem 0; padding: 0; list-style: none; }
.cards li { background: var(--card); border-radius: .6rem; padding: .9rem 1rem; }
.cards b { display: block; font-size: 1.7rem; font-weight: 600; line-height: 1.2; font-variant-numeric: tabular-nums; }
.cards i { display: block; font-style: normal; font-weight: 600; font-size: .9rem; }
.cards span { display: block; color: var(--soft); font-size: .85rem; line-height: 1.4; margin-top: .25rem; }
nav ol { columns: 3 12rem; column-gap: 2rem; padding-left: 1.4rem; margin: .4rem 0; font-size: .95rem; }
nav li { break-inside: avoid; padding: .12rem 0; }
.box { overflow-x: auto; margin: .8rem 0 1.2rem; max-width: 100%; }
table { border-collapse: collapse; font-size: .9rem; line-height: 1.4; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding: 0 0 .4rem; font-size: .9rem; }
th, td { padding: .4rem .9rem .4rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); overflow-wrap: normal; }
thead th { font-weight: 600; color: var(--soft); vertical-align: bottom; white-space: nowrap; }
tbody th { font-weight: 500; }
td.n, th.n { text-align: right; white-space: nowrap; }
td.v { white-space: nowrap; }
td.t { min-width: 14rem; color: var(--soft); }
tr > :last-child { padding-right: .2rem; }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .35rem 1.2rem; margin: .8rem 0 1.2rem; font-size: .95rem; }
dt { color: var(--soft); } dd { margin: 0; min-width: 0; } dd dl { margin: 0; gap: .1rem 1rem; }
.figures { display: grid; gap: 1.4rem 1.6rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); margin: 1rem 0; }
figure { margin: 0; min-width: 0; break-inside: avoid; }
.figures figure { max-width: 30rem; }
figcaption { font-size: .9rem; color: var(--soft); line-height: 1.45; margin-top: .35rem; max-width: 42rem; }
figcaption b { display: block; color: var(--ink); font-weight: 600; }
figure svg { display: block; width: 100%; height: auto; }
.natural svg { width: auto; max-width: none; }
svg text { font-family: inherit; font-size: 12px; fill: var(--ink); }
svg .tick { fill: var(--soft); font-size: 11.5px; font-variant-numeric: tabular-nums; }
svg .axis-name { fill: var(--soft); font-size: 12px; }
svg .value { font-variant-numeric: tabular-nums; }
svg .limit-name { fill: var(--soft); font-size: 11px; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .axis { stroke: var(--soft); stroke-width: 1; }
svg .limit { stroke: var(--soft); stroke-width: 1.2; stroke-dasharray: 5 4; }
svg .line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; stroke: var(--one); }
svg .line.two { stroke: var(--two); stroke-dasharray: 7 4; } svg .line.three { stroke: var(--three); stroke-dasharray: 2 4; }
svg .line.four { stroke: var(--four); stroke-dasharray: 9 3 2 3; } svg .line.five { stroke: var(--five); stroke-dasharray: 12 4; }
svg .line.six { stroke: var(--six); stroke-dasharray: 4 2; }
svg .line.faint { stroke: var(--soft); stroke-opacity: .35; stroke-width: 1; }
svg .dot { fill: var(--one); stroke: var(--paper); stroke-width: 1; } svg .dot.two { fill: var(--two); } svg .dot.three { fill: var(--three); }
svg .dot.four { fill: var(--four); } svg .dot.five { fill: var(--five); } svg .dot.six { fill: var(--six); }
svg .whisker { stroke: var(--one); stroke-width: 2; stroke-opacity: .55; stroke-linecap: round; }
svg .bar { fill: var(--one); fill-opacity: .8; }
svg .cell.right { fill: var(--one); } svg .cell.wrong { fill: var(--two); }
svg .cell-edge { fill: var(--card); }
svg .count { font-variant-numeric: tabular-nums; } svg .count.strong { fill: var(--paper); } svg .count.small { font-size: 9px; }
.formula { font-family: "Cambria Math", "STIX Two Math", Cambria, Georgia, "DejaVu Serif", serif; font-size: 1.05rem; line-height: 2; background: var(--card); border-radius: .6rem; padding: .7rem 1rem; margin: .8rem 0; max-width: 42rem; }
.formula div + div { border-top: 1px solid var(--line); }
var { font-style: italic; } sub, sup { font-size: .72em; line-height: 0; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .86em; }
pre { background: var(--card); border-radius: .6rem; padding: .8rem 1rem; margin: .6rem 0 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.mark { font-weight: 600; white-space: nowrap; } .mark.good { color: var(--good); } .mark.bad { color: var(--bad); }
.warn { border-left: 4px solid var(--bad); background: var(--card); border-radius: 0 .6rem .6rem 0; padding: .7rem 1rem; max-width: 42rem; }
.pairs { font-size: .9rem; max-width: 46rem; } .pairs > span { display: inline-block; margin-right: 1.1rem; } .pairs em { font-style: normal; color: var(--soft); }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .85rem; }
@media (max-width: 40rem) {
  body { padding: 1.4rem 1rem 3rem; }
  h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.4rem; }
  .cards { grid-template-columns: 1fr 1fr; gap: .6rem; } .cards li { padding: .7rem .8rem; } .cards b { font-size: 1.35rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .6rem; }
}
@media print {
  :root {
    color-scheme: light;
    --paper: #fff; --card: #f6f6f4; --ink: #000; --soft: #444; --line: #ccc;
    --one: #0b62a4; --two: #c2500a; --three: #08795a; --four: #8a4b8f; --five: #7a6a00; --six: #4a4f55;
    --good: #08795a; --bad: #c2500a;
  }
  @page { margin: 18mm 16mm; }
  body { max-width: none; padding: 0; font-size: 10pt; line-height: 1.45; }
  h1 { font-size: 20pt; } h2 { font-size: 14pt; margin-top: 1.6rem; }
  h1, h2, h3 { break-after: avoid; } p { orphans: 3; widows: 3; }
  .box { overflow: visible; } table { font-size: 8pt; } th, td { padding-right: .6rem; overflow-wrap: anywhere; white-space: normal; }
  thead { display: table-header-group; } tr, figure, .cards li, pre, .formula { break-inside: avoid; }
  .figures { grid-template-columns: 1fr 1fr; } .natural svg { max-width: 100%; height: auto; }
  .cards li, .formula, pre, .warn, svg .bar, svg .cell, svg .cell-edge { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  a { color: inherit; text-decoration: none; }
}
""".strip()
