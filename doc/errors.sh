#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The figure of README.md and of the manual that shows where each error enters a split GEMM:
#
#     errors.sh FOLDER
#
# writes errors.svg, and errors.txt for info.  The steps are fixed; the bars are the parts of
# `bitcut gemm --budget` for two recipes.  `make figures` runs this script.
set -eu
[ $# -eq 1 ] || { sed -n 's/^#     //p' "$0" >&2; exit 2; }
unit=h100 size='-m 64 -n 64 -k 4096'

# parts RECIPE: a line for each part of the error budget: recipe, part, RMS in u |A||B|.
parts() {
    # shellcheck disable=SC2086 # a list of options
    bitcut gemm --recipe "$1" --unit $unit $size --budget --json |
        sed 's/.*"parts":\[//; s/{"name":/\n/g' |
        sed -n 's/^"\([a-z]*\)","u":{[^}]*"rms":\([-+.e0-9]*\),.*/'"$1"' \1 \2/p'
}

{ parts markidis; parts ootomo; } | awk -v folder="$1" -v setting="$unit, $size" '
    function text(x, y, class, words) {
        printf "<text x=\"%g\" y=\"%g\" class=\"%s\">%s</text>\n", x, y, class, words > svg
    }
    # bar(X, CLASS, VALUE): on a logarithmic scale from LEAST up, with the value above it.
    function bar(x, class, value,    height) {
        height = value > least ? log(value / least) / log(10) * decade : 0
        if (height > 0)
            printf "<rect x=\"%g\" y=\"%g\" width=\"26\" height=\"%g\" class=\"%s\"/>\n", x, base - height, height, class > svg
        text(x + 13, base - height - 5, "value", sprintf("%.2g", value))
    }
    # step(TITLE, WORDS, SECOND LINE, PART, ITS CAUSE, SECOND LINE)
    function step(title, words, more, part, cause, rest,    x) {
        x = 12 + 156 * steps++
        printf "<rect x=\"%g\" y=\"52\" width=\"140\" height=\"66\" rx=\"6\" class=\"box\"/>\n", x > svg
        text(x + 70, 73, "title", title)
        text(x + 70, 91, "small", words)
        text(x + 70, 107, "small", more)
        if (steps < 6)
            printf "<path d=\"M%g 85h11m-5-5l6 5l-6 5\" class=\"arrow\"/>\n", x + 142 > svg
        printf "<path d=\"M%g 140v-18m-4 6l4-6l4 6\" class=\"enters\"/>\n", x + 70 > svg
        text(x + 70, 158, "part", part)
        text(x + 70, 175, "small", cause)
        text(x + 70, 190, "small", rest)
        bar(x + 38, "first", rms["markidis", part])
        bar(x + 76, "second", rms["ootomo", part])
        printf "%-15s %-44s %8.2g %8.2g\n", part, cause " " rest, rms["markidis", part], rms["ootomo", part] > txt
    }
    { rms[$1, $2] = $3 }
    END {
        svg = folder "/errors.svg"; txt = folder "/errors.txt"
        least = 1e-4; decade = 26; base = 352
        print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 944 400\" role=\"img\" aria-label=\"Where each error enters a split GEMM\">" > svg
        print "<style>svg{font-family:sans-serif;font-size:12px;text-anchor:middle}" \
            ".ground{fill:#fff}.box{fill:#eef3f8;stroke:#5b7083}text{fill:#1a1a1a}.small{font-size:11.5px}" \
            ".head{font-size:16px;font-weight:bold;text-anchor:start}.title{font-weight:bold;font-size:13px}" \
            ".part{font-weight:bold;font-size:13px;fill:#a33c00}.key{text-anchor:start}.value{font-size:11px}" \
            ".arrow{fill:none;stroke:#5b7083;stroke-width:1.6}.enters{fill:none;stroke:#a33c00;stroke-width:1.8}" \
            ".first{fill:#009e73}.second{fill:#0072b2}.line{stroke:#5b7083}" \
            "@media(prefers-color-scheme:dark){.ground{fill:#14181d}.box{fill:#222c36;stroke:#8fa3b5}" \
            "text{fill:#e8e8e8}.part{fill:#ff9d5c}.arrow,.line{stroke:#8fa3b5}.enters{stroke:#ff9d5c}" \
            ".first{fill:#22c79a}.second{fill:#4aa8e8}}</style>" > svg
        print "<rect width=\"944\" height=\"400\" class=\"ground\"/>" > svg
        text(12, 32, "head", "Where each error enters a split GEMM")
        printf "%-15s %-44s %8s %8s\n", "part", "what happens", "markidis", "ootomo" > txt
        step("Split", "A, B: FP32 becomes", "high + low part", "representation", "the parts keep 22", "to 24 of 24 bits")
        step("Range", "parts have 5 bits", "of exponent", "underflow", "small low parts lose", "bits or become 0")
        step("Products of parts", "high high, high low,", "low high", "dropped", "low low is not", "computed")
        step("Matrix unit: align", "products of a block", "and the accumulator", "alignment", "bits below the", "window are cut")
        step("Matrix unit: add", "one sum goes to", "the accumulator", "accumulation", "the sum is truncated", "to FP32")
        step("Promotion", "accumulators go to", "FP32 sums", "promotion", "FP32 additions", "round to nearest")
        printf "<path d=\"M12 %gH932\" class=\"line\"/>\n", base + 0.5 > svg
        printf "<rect x=\"12\" y=\"370\" width=\"14\" height=\"14\" class=\"first\"/>\n" > svg
        text(32, 382, "key", sprintf("markidis: never promoted; %.2g u |A||B| in all", rms["markidis", "error"]))
        printf "<rect x=\"330\" y=\"370\" width=\"14\" height=\"14\" class=\"second\"/>\n" > svg
        text(350, 382, "key", sprintf("ootomo: promoted; %.2g in all", rms["ootomo", "error"]))
        text(560, 382, "key", "RMS error in u |A||B|, log scale; " setting)
        print "</svg>" > svg
        printf "%-60s %8.2g %8.2g\n", "error, in all", rms["markidis", "error"], rms["ootomo", "error"] > txt
        print "\nRMS error in u |A||B|, u = 2^-24; " setting > txt
    }'
