# SPDX-License-Identifier: BSD-3-Clause
# The text of a comment or docstring as Texinfo, for c_reference.awk and python_reference.awk.
# A blank line ends a paragraph.  An indented paragraph is a formula.  Lists are:
#
#   - ITEM                   an item
#   NAME                     a row of a table: a line with an indented one right below it
#       TEXT
#   Returns: TEXT            a row of a table; below In:, Out:, In/Out:, Args: and Raises: each line in
#   In:      NAME: TEXT      the column of the first argument is a row of its own.  Two spaces
#            NAME  TEXT      may stand for the colon.

function escaped(text) { gsub(/[@{}]/, "@&", text); return text }

function code(text) { gsub(/`/, "", text); return "@code{" text "}" }

# Text with its `code`, its functions and constants marked.
function marked(text,    out) {
    text = escaped(text)
    gsub(/``/, "`", text)
    while (match(text, /`[^`]+`|bitcut_[a-z0-9_]+(\(\))?|BITCUT_[A-Z0-9_]+/)) {
        out = out substr(text, 1, RSTART - 1) code(substr(text, RSTART, RLENGTH))
        text = substr(text, RSTART + RLENGTH)
    }
    return out text
}

# Print the paragraph that has been collected.
function end_paragraph() {
    if (paragraph != "") print marked(paragraph)
    paragraph = ""
}

# In the block from now on: "", itemize, display, example or "table @asis".
function enter(kind,    old) {
    end_paragraph()
    if (kind == block) return
    old = block
    sub(/ .*/, "", old)
    if (old != "") print "@end " old "\n"
    if (kind != "") print "@" kind
    block = kind
}

# A row of the table: LABEL, and the argument or status in front of the text.
function row(label, text,    name) {
    enter("table @asis")
    if (match(text, is_status(label) ? "^[A-Z0-9_]+: *" : "^[*A-Za-z_0-9, ]+(:|  ) *")) {
        name = substr(text, 1, RLENGTH)
        text = substr(text, RLENGTH + 1)
        sub(/(:| ) *$/, "", name)
        label = label " " code(name)
    }
    print "@item " label
    paragraph = text
}

function is_status(label) { return label ~ /^(Returns|Errors)$/ }

function more(text) {
    if (paragraph == "" && blank) print ""
    paragraph = paragraph (paragraph == "" ? "" : "\n") text
}

# Print the COUNT lines of line[].
function comment(line, count,    i, text, at, label, column) {
    block = paragraph = ""
    blank = 0
    for (i = 1; i <= count; i++) {
        text = line[i]
        match(text, /^ */)
        at = RLENGTH
        text = substr(text, at + 1)
        if (text == "") end_paragraph()
        else if (match(text, /^(Returns|Args|In|Out|In\/Out|Errors|Raises): */)) {
            label = substr(text, 1, index(text, ":") - 1)
            column = at + RLENGTH
            row(label, substr(text, RLENGTH + 1))
        } else if (text ~ /^- /) {
            label = ""
            enter("itemize")
            print "@item"
            more(substr(text, 3))
        } else if (text ~ /^>>> /) {
            enter("example")
            print escaped(text)
        } else if (block == "example" && !blank)
            print escaped(text)
        else if (label && block ~ /table/ && at == column &&
                 (!is_status(label) || text ~ /^[A-Z0-9_]+: /))
            row(label, text)
        else if (at == 0 && i < count && line[i + 1] ~ /^  +[^ -]/) {
            enter("table @asis")
            print "@item @code{" escaped(text) "}"
            label = ""
        } else if (at > 0 && block != "" && !(blank && block !~ /table/))
            more(text)
        else {
            if (blank || block != "") enter(at > 0 ? "display" : "")
            more(text)
            label = ""
        }
        blank = text == ""
    }
    enter("")
}
