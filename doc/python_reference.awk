# SPDX-License-Identifier: BSD-3-Clause
# Run with comment.awk on the modules of python/bitcut, __init__.py first: the chapter "Python
# reference" of the manual.  It has what __all__ names, and of a class what has a docstring.

# public TEXT: the names in it belong to the module, whose file they are in.
function public(text, file,    n, name, i) {
    n = split(text, name, /[^A-Za-z_]+/)
    for (i = 1; i <= n; i++) home[name[i]] = file
}

# How it is called: one line, its annotations left out of `self`, without the colon.
function heading(text) {
    gsub(/[ \t\n]+/, " ", text)
    sub(/: *$/, "", text)
    sub(/^ *(def|class) /, "", text)
    sub(/\((self|cls)(, )?/, "(", text)
    return text
}

function entry(text,    name) {
    name = text
    sub(/[ (:].*/, "", name)
    print "\n@findex " module name
    print "@smallexample\n" (is_class ? "class " : "") module escaped(folded(text))
    print "@end smallexample\n"
}

# A long signature in lines of at most 90 characters, broken after a comma.
function folded(text,    out, line, n, part, i) {
    n = split(text, part, /, /)
    for (i = 1; i <= n; i++) {
        part[i] = part[i] (i < n ? "," : "")
        if (length(line part[i]) > 84) { out = out line "\n        "; line = part[i] }
        else line = line (line == "" ? "" : " ") part[i]
    }
    return out line
}

# A docstring, whose first line is given, up to its end; the indentation is that of the code.
function docstring(first,    n, margin, at_end, text) {
    sub(/^ *r?"""/, "", first)
    n = 0
    at_end = sub(/"""$/, "", first)
    about[++n] = first
    margin = -1
    while (!at_end && (getline text) > 0) {
        at_end = sub(/ *"""$/, "", text)
        if (text != "" && margin < 0) margin = match(text, /[^ ]/) - 1
        about[++n] = substr(text, margin + 1)
    }
    comment(about, n)
}

BEGIN {
    print "@c SPDX-License-Identifier: BSD-3-Clause\n@c Written by doc/python_reference.awk from python/bitcut."
    print "@node Python reference\n@chapter Python reference\n"
}
FNR == 1 {
    file = FILENAME
    sub(/.*\//, "", file)
    module = file == "testing.py" ? "bitcut.testing." : "bitcut."
    wanted = 0
}
file == "__init__.py" && /^from \./ {
    text = $0
    while (text ~ /\(/ && text !~ /\)/ && (getline line) > 0) text = text line
    from = $2
    sub(/^\./, "", from)
    public(substr(text, index(text, " import ") + 8), from ".py")
}
file == "testing.py" && /^__all__ = / { public(substr($0, 10), file) }
/^"""/ && file !~ /^_[a-z]/ {
    print "@section The module " substr(module, 1, length(module) - 1)
    docstring($0)
}
/^(def|class) |^    def / {
    method = /^ /
    is_class = /^class/
    name = $2
    sub(/[(:].*/, "", name)
    if (!method) {
        wanted = home[name] == file
        class = is_class ? name : ""
    }
    if (!wanted || method && (class == "" || name ~ /^_/)) next
    text = $0
    while (text !~ /:$/ && (getline line) > 0) text = text "\n" line
    documented = (getline line) > 0 && line ~ /^ *r?"""/
    if (documented || !method) entry((method ? class "." : "") heading(text))
    if (documented) docstring(line)
}
