#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The manual's table of keys, doc/keys.texi, on standard output: what the program in PATH
# says of each (bitcut list keys).
bitcut list keys --json | awk '
    # field NAME: its text in the line, with what Texinfo reads as its own escaped.
    function field(name, text) {
        if (!match($0, "\"" name "\":\"([^\"\\\\]|\\\\.)*\"")) return ""
        text = substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5)
        gsub(/\\"/, "\"", text)
        gsub(/[@{}]/, "@&", text)
        return text
    }
    BEGIN {
        print "@c Written by doc/keys.sh from what `bitcut list keys` says."
        print "@c SPDX-License-Identifier: BSD-3-Clause"
    }
    {
        of = field("of")
        if (of != last) {
            if (last != "") print "@c end keys\n@end multitable"
            printf "\n@noindent\n@code{%s}\n\n", of
            group = of
            sub(/\..*/, "", group)
            printf "@multitable @columnfractions .34 .12 .54\n@c keys %s\n", group
            last = of
        }
        printf "@item @code{%s} @tab %s @tab %s\n", field("name"), field("unit"), field("what")
    }
    END { print "@c end keys\n@end multitable" }'
