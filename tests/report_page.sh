# SPDX-License-Identifier: BSD-3-Clause
# What the tests of a report on one GEMM share: the page in one/, and standard output in `out`.
# shellcheck shell=sh

# says QUESTION ANSWER: the page has that answer, a basic expression.
says() {
    grep -q "^| $1 | $2" one/report.md || { echo "not: $1 $2"; grep "^| $1" one/report.md; }
}

# banner VERDICT REASON: the page begins with that, a basic expression each, as it says in HTML
# and at the end of standard output.
banner() {
    grep -q "^\*\*[^ ]* $1\*\* .*$2" one/report.md || { echo "not: $1 $2"; grep '^\*\*' one/report.md; }
    grep -q "<strong>[^ ]* $1</strong> .*$2" one/index.html || echo "the page has no $1"
    tail -n 5 out | grep -q "^verdict  $1\$" || { echo "the end is another:"; tail -n 5 out; }
    [ "$(tail -n 1 out)" = 'page     one/index.html' ] || tail -n 1 out
}
