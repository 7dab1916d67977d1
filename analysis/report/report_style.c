/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/report/report_style.h"

const char report_style[] =
    /* clang-format off */
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<style>\n"
    ":root { color-scheme: light dark; --line: #ccc; --code: #f2f2f2; --soft: #555;\n"
    "  --mark: #ffe8a3; --good: #1a7f37; --bad: #c5221f; --open: #6b5d00; }\n"
    "@media (prefers-color-scheme: dark) { :root { --line: #555; --code: #2a2a2a;\n"
    "  --soft: #aaa; --mark: #5c4700; --good: #57c46c; --bad: #ff7b72; --open: #d9c25f; } }\n"
    "body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em;\n"
    "  overflow-wrap: break-word; }\n"
    "h1, h2, h3 { line-height: 1.2; } section { margin-top: 3em; }\n"
    "h2 { margin-top: 3em; border-bottom: 2px solid var(--line); }\n"
    "table { border-collapse: collapse; font-size: 14px; }\n"
    "th, td { border-bottom: 1px solid var(--line); padding: 0.2em 0.8em; text-align: left;\n"
    "  vertical-align: top; }\n"
    ".number { text-align: right; font-variant-numeric: tabular-nums; }\n"
    "code { background: var(--code); padding: 0.1em 0.3em; }\n"
    "pre { background: var(--code); padding: 0.6em 1em; overflow-x: auto; font-size: 13px;\n"
    "  user-select: all; }\n"
    "pre code { padding: 0; background: none; overflow-wrap: normal; }\n"
    ".lines td, .verdicts td, code { overflow-wrap: anywhere; }\n"
    ".wide { overflow-x: auto; } figure { margin: 1em 0; }\n"
    "figcaption { font-style: italic; }\n"
    ".provenance { font-size: 12px; color: var(--soft); }\n"

    /* The verdict on a result. */
    ".banner { border-left: 0.4em solid; padding: 0.6em 1em; margin: 1em 0; }\n"
    ".banner strong { font-size: 1.3em; display: block; }\n"
    ".accepted { border-color: var(--good); } .accepted strong { color: var(--good); }\n"
    ".rejected { border-color: var(--bad); } .rejected strong { color: var(--bad); }\n"
    ".open { border-color: var(--open); } .open strong { color: var(--open); }\n"

    /* Findings: a sentence, and a small figure next to it. */
    ".finding { display: flex; flex-wrap: wrap; gap: 0 2em; align-items: center;\n"
    "  margin: 1.5em 0; }\n"
    ".finding > div { flex: 1 1 20em; min-width: 0; }\n"
    ".finding h3 { margin: 0; } .finding .provenance { margin: 0; }\n"

    /* Verdicts, which have a sign in addition to a colour. */
    ".verdicts { width: 100%; table-layout: fixed; font-size: 13px; margin: 1em 0 2em; }\n"
    ".verdicts th, .verdicts td { padding: 0.2em 0.4em; }\n"
    ".verdicts th { width: 10%; } .verdicts .claim { width: 22%; }\n"
    ".verdicts .paper { width: 14%; } .verdicts .reason { width: 34%; }\n"
    ".agrees::before { content: \"\\2713\\a0\"; } .differs::before { content: \"\\2260\\a0\"; }\n"
    ".cannot::before { content: \"?\\a0\"; } .undecided::before { content: \"~\\a0\"; }\n"
    ".agrees { color: var(--good); } .differs { color: var(--bad); font-weight: bold; }\n"
    ".cannot, .undecided { color: var(--open); } .changed { background: var(--mark); }\n"
    ".filters { display: flex; flex-wrap: wrap; gap: 0.5em 1.5em; }\n"
    ".filters[hidden] { display: none; } .filters select { max-width: 16em; }\n"

    /* Figures: the attributes that svg_write() omits.  In dark mode the lightness of
       their colours is inverted, and their background is that of the page. */
    ".picture { overflow-x: auto; }\n"
    ".picture svg { display: block; max-width: 100%; height: auto; min-width: var(--least);\n"
    "  color: #000; fill: none; stroke: currentColor; font: 12px sans-serif; }\n"
    ".picture text { fill: currentColor; stroke: none; }\n"
    ".gridline { stroke: #c8c8c8; stroke-dasharray: 2 4; }\n"
    "@media screen and (prefers-color-scheme: dark) {\n"
    "  .picture svg { filter: invert(1) hue-rotate(180deg); } }\n"

    /* A phone, and paper. */
    "@media screen and (max-width: 40em) {\n"
    "  .verdicts, .verdicts tbody, .verdicts tr, .verdicts td { display: block; }\n"
    "  .verdicts tr[hidden] { display: none; } .verdicts thead { display: none; }\n"
    "  .verdicts td { border: 0; padding: 0; }\n"
    "  .verdicts tr { border-bottom: 1px solid var(--line); padding: 0.5em 0; }\n"
    "  .verdicts td[data-sizes]::before { content: attr(data-sizes); } }\n"
    "@page { size: A4; margin: 15mm; }\n"
    "@media print { :root { color-scheme: light; }\n"
    "  body { max-width: none; margin: 0; font-size: 11px; } table { font-size: 10px; }\n"
    "  .verdicts, .provenance { font-size: 9px; }\n"
    "  h2, section { margin-top: 1.5em; } .findings { break-after: page; }\n"
    "  .finding { margin: 0.6em 0; flex-wrap: nowrap; break-inside: avoid; }\n"
    "  .finding .picture svg { max-height: 4cm; }\n"
    "  details:not([open]), .filters { display: none; }\n"
    "  h1, h2, h3, summary { break-after: avoid; }\n"
    "  .whole, figure, tr, details { break-inside: avoid; }\n"
    "  .wide, .picture, pre { overflow: visible; }\n"
    "  pre, pre code { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 10px; }\n"
    "  .picture svg { max-height: 17cm; min-width: 0; } }\n"
    "</style>\n";
/* clang-format on */

const char report_script[] =
    /* clang-format off */
    "<script>\n"
    "{\n"
    "  const form = document.querySelector('.filters');\n"
    "  const rows = [...document.querySelectorAll('#claims tbody tr')];\n"
    "  const choices = [...form.querySelectorAll('select')];\n"
    "  for (const choice of choices)\n"
    "    for (const value of new Set(rows.map(row => row.dataset[choice.name])))\n"
    "      choice.add(new Option(value));\n"
    "  const filter = () => {\n"
    "    for (const row of rows)\n"
    "      row.hidden = choices.some(choice => choice.value &&\n"
    "        row.dataset[choice.name] !== choice.value);\n"
    "    form.querySelector('output').value =\n"
    "      `${rows.filter(row => !row.hidden).length} of ${rows.length} claims`;\n"
    "  };\n"
    "  form.addEventListener('change', filter);\n"
    "  form.hidden = false;\n"
    "  filter();\n"
    "}\n"
    "</script>\n";
/* clang-format on */
