#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# html.sh MAKEINFO ... -o FOLDER MANUAL: the manual as pages, one a chapter, in FOLDER with all
# that they need: style, figures, formulas as MathML, a side bar, and a search without a network.
set -eu
doc=$(dirname "$0")
previous=
for argument; do
    [ "$previous" != -o ] || folder=$argument
    previous=$argument
done
"$@" --html --split=chapter -c NODE_FILES=0
LC_ALL=C ${AWK-awk} -f "$doc/mathml.awk" -f "$doc/html.awk" -v folder="$folder" "$folder"/*.html
for page in "$folder"/*.html; do mv "$page.new" "$page"; done
cp "$doc/manual.css" "$doc/search.js" "$doc"/figures/*.svg "$folder"
