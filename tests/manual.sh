#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The pages of the manual: their links and figures exist, the references and the search
# have every function, and formulas and comments are converted correctly.
set -u
# shellcheck source=tests/tap.sh
. "${srcdir:-.}/tests/tap.sh"
source=$(cd "${srcdir:-.}" && pwd)
pages=$PWD/doc/bitcut.html
[ -d "$pages" ] || pages=$source/doc/bitcut.html
[ -d "$pages" ] || skip_all "the manual: make html, with the package texinfo"
awk=${AWK:-awk}

# Links and images without their target: a page, a place in one, or a file.
broken() {
    (cd "$pages" && $awk '
        { line = $0 }
        FNR == 1 { place[FILENAME] }
        { while (match(line, /(^| |<[a-z]+ )(id|href|src)=["\047][^"\047]*["\047]/)) {
              part = substr(line, RSTART, RLENGTH)
              line = substr(line, RSTART + RLENGTH)
              sub(/^.*(id|href|src)=["\047]/, "&\001", part)
              kind = part ~ /id=/ ? "id" : "to"
              sub(/.*\001/, "", part); sub(/.$/, "", part)
              if (kind == "id") place[FILENAME "#" part]
              else if (part !~ /^[a-z]+:/) link[(part ~ /^#/ ? FILENAME : "") part] = FILENAME
          } }
        END {
            for (to in link) {
                n++
                file = to
                sub(/#.*/, "", file)
                if (!(to in place) && (to ~ /#/ || (getline line < file) < 0))
                    print link[to] " has no " to
            }
            if (n < 500) print "only " n " links"
        }' *.html) | head -n 20
}

# Pages without the side bar, or with what makeinfo puts in its place; figures that are missing.
whole() {
    for page in "$pages"/*.html; do
        grep -q '<input id="search"' "$page" && grep -q '^</html>$' "$page" || echo "$page"
        grep -l 'class="header"\|class="nav-panel"\|class=.math.\|https*://[^"]*\.js' "$page"
    done
    for figure in "$source"/doc/figures/*.svg; do
        grep -q "src=\"$(basename "$figure")\"" "$pages"/*.html || echo "no page shows $figure"
    done
}

# listed NAME PAGE: what of the reference and of the search lacks a name.
listed() {
    id=$(printf %s "$1" | sed 's/_/_005f/g; s/\./_002e/g')
    grep -q "id=[\"']index-$id[\"']" "$pages/$2" || echo "$2 has no $1"
    grep -qF "[\"$1\",\"$2#" "$pages/search_index.js" || echo "the search has no $1"
}
c_functions() {
    names=$(grep -o 'bitcut_[a-z0-9_]*(' "$source/lib/bitcut.h" | tr -d '(' | sort -u)
    [ "$(echo "$names" | wc -l)" -ge 60 ] || echo "few functions"
    for name in $names; do listed "$name" C-reference.html; done
    for name in $(grep -o '\(struct\|enum\) bitcut_[a-z_]* {' "$source/lib/bitcut.h" |
        sed 's/ {//; s/ /:/'); do
        grep -qF "[\"$(echo "$name" | tr : ' ')\"," "$pages/search_index.js" || echo "no $name"
    done
}
# What __init__.py imports from the modules, and the assertions.
python_functions() {
    names=$(sed -n '/^from \._/,/^$/p' "$source/python/bitcut/__init__.py" |
        sed 's/from \.[a-z_]* import//; s/[a-z]* as library//; s/__version__//' | tr -c 'A-Za-z_' ' ')
    [ "$(echo "$names" | wc -w)" -ge 35 ] || echo "few names: $names"
    for name in $names testing.assert_gemm testing.assert_gemm_close; do
        listed "bitcut.$name" Python-reference.html
    done
}

# typeset FORMULA MATHML
typeset() {
    [ "$($awk -f "$source/doc/mathml.awk" -f /dev/stdin << END
BEGIN { text = mathml("$1"); gsub(/<\/?(math|mrow)>/, "", text); print text }
END
    )" = "$2" ] || echo "$1 is not $2"
}
formulas() {
    typeset '2^{-24}' '<msup><mn>2</mn><mo>&minus;</mo><mn>24</mn></msup>'
    typeset 'a_i^2' '<msubsup><mi>a</mi><mi>i</mi><mn>2</mn></msubsup>'
    typeset 'x^(1/r)' '<msup><mi>x</mi><mn>1</mn><mo stretchy="false">/</mo><mi>r</mi></msup>'
    typeset 'sqrt(alpha)' '<msqrt><mi>&alpha;</mi></msqrt>'
    typeset '|D| &le; u' \
        '<mo stretchy="false">|</mo><mi>D</mi><mo stretchy="false">|</mo><mo stretchy="false">&le;</mo><mi>u</mi>'
}

# A contract with all that comments may have, as Texinfo.
comments() {
    $awk -f "$source/doc/comment.awk" -f "$source/doc/c_reference.awk" << 'END' > comment.out
extern "C" {
/* Halve `x`.
 *
 * Returns: BITCUT_OK; or
 *          BITCUT_BAD_ARGUMENT: x is odd
 * Out: to:  half of x,
 *           exactly
 * In:  x:   a number
 *
 * Special cases:
 * - 0 gives 0,
 *   whatever its sign.
 */
enum bitcut_status bitcut_halve(int *to, int x);
END
    rm -f comment.want
    cat > comment.want << 'END'
@findex bitcut_halve
@smallexample
enum bitcut_status bitcut_halve(int *to, int x);
@end smallexample
@noindent
Halve @code{x}.
@table @asis
@item Returns
@code{BITCUT_OK}; or
@item Returns @code{BITCUT_BAD_ARGUMENT}
x is odd
@item Out @code{to}
half of x,
exactly
@item In @code{x}
a number
@end table
Special cases:
@itemize
@item
0 gives 0,
whatever its sign.
@end itemize
END
    grep . comment.out | sed '1,/cindex/d' | diff - comment.want
    rm -f comment.out comment.want
}

echo 1..6
ok_if_empty "links and images of the pages exist" "$(broken)"
ok_if_empty "the pages are whole, and show every figure" "$(whole)"
ok_if_empty "reference and search have each function of bitcut.h" "$(c_functions)"
ok_if_empty "reference and search have each function of the package" "$(python_functions)"
ok_if_empty "formulas become MathML" "$(formulas)"
ok_if_empty "comments become Texinfo" "$(comments)"
