# SPDX-License-Identifier: BSD-3-Clause
# Run with comment.awk on lib/bitcut.h: the chapter "C reference" of the manual, in the order and
# with the sections of the header.  A group of declarations without blank lines between them
# stands above the comment before it.

function add_comment(text) {
    sub(/^(\/\*\*?| \*\*?\/?|  ) ?/, "", text)
    sub(/ *\*\/ *$/, "", text)
    if (text != "" || comments) about[++comments] = text
}

# The names that a declaration declares, into the index.
function index_names(text,    rest) {
    if (match(text, /^(struct|enum) [a-z_0-9]+( \{|;)/)) {
        rest = substr(text, 1, RLENGTH)
        sub(/( \{|;)$/, "", rest)
        print "@findex " rest
    } else if (match(text, /bitcut_[a-z0-9_]+\(/))
        print "@findex " substr(text, RSTART, RLENGTH - 1)
    if (text !~ /^enum/) return
    gsub(/\/\*[^*]*\*\//, "", text)
    while (match(text, /BITCUT_[A-Z0-9_]+/)) {
        print "@findex " substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
    }
}

function flush(    i) {
    if (declarations) {
        print ""
        for (i = 1; i <= declarations; i++) index_names(declared[i])
        print "@smallexample"
        for (i = 1; i <= declarations; i++) print escaped(declared[i])
        print "@end smallexample"
    }
    if (comments) { print declarations ? "\n@noindent" : ""; comment(about, comments) }
    comments = declarations = depth = 0
}

BEGIN {
    print "@c SPDX-License-Identifier: BSD-3-Clause\n@c Written by doc/c_reference.awk from lib/bitcut.h."
    print "@node C reference\n@chapter C reference\n\n@cindex bitcut.h"
}
/SPDX-License/ { next }
in_comment { add_comment($0); if (/\*\/ *$/) in_comment = 0; next }
in_define { in_define = /\\$/; next }
/^#/ { in_define = /\\$/; if (body) comments = 0; next }
/^extern "C" \{|^\}$/ { body = 1; next }
/^\/\* --- / {
    flush()
    gsub(/^\/\* -+ | -+ \*\/$/, "")
    print "\n@section " toupper(substr($0, 1, 1)) escaped(substr($0, 2))
    next
}
depth == 0 && /^\/\*/ { add_comment($0); in_comment = !/\*\/ *$/; next }
depth == 0 && /^ *$/ { flush(); next }
{
    if (depth == 0) declared[++declarations] = $0
    else declared[declarations] = declared[declarations] "\n" $0
    bare = $0
    gsub(/\/\*[^*]*\*\//, "", bare)
    opened = gsub(/[{(]/, "", bare)
    closed = gsub(/[})]/, "", bare)
    nested += opened - closed
    depth = nested > 0 || bare !~ /; *$/
}
END { flush() }
