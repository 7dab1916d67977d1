# SPDX-License-Identifier: BSD-3-Clause
# Run with mathml.awk and -v folder=FOLDER on the pages that makeinfo wrote there.  Each page is
# written anew, to its name with .new: with the side bar and the style, formulas as MathML, and
# functions linked to their reference.  FOLDER/search_index.js gets what search.js looks in: a
# line for each section, with its words, and each entry of the index.

function plain(text) {
    gsub(/<[^>]*>/, "", text)
    gsub(/&nbsp;/, " ", text)
    gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&quot;/, "\"", text)
    gsub(/&[lr]squo;/, "'", text); gsub(/&[lr]dquo;/, "\"", text)
    gsub(/&hellip;/, "...", text); gsub(/&amp;/, "\\&", text)
    return text
}
function quoted(text) { gsub(/[\\"]/, "\\\\&", text); return "\"" text "\"" }
function attribute(name, text) {
    if (!match(text, name "=[\"'][^\"']*[\"']")) return ""
    return substr(text, RSTART + length(name) + 2, RLENGTH - length(name) - 3)
}
function page_of(address) { sub(/#.*/, "", address); return address }

# The chapters and their sections, from the contents; where each term of the index is.
function read_contents(    line, text) {
    while ((getline line < (folder "/index.html")) > 0)
        if (match(line, /<a id="toc-[^>]*>.*<\/a>/)) {
            text = substr(line, RSTART, RLENGTH)
            address[++entries] = attribute("href", text)
            label[entries] = text
            gsub(/<\/?a[^>]*>/, "", label[entries])
            level[entries] = 1 + gsub(/[.]/, "&", label[entries]) * (label[entries] ~ /^[0-9]+[.]/)
            if (level[entries] > 1) level[entries] = label[entries] ~ /^[0-9]+[.][0-9]+ / ? 2 : 3
        }
    while ((getline line < (folder "/Index.html")) > 0)
        if (match(line, /<a href="[^"]*#index-[^>]*>/)) {
            text = substr(line, RSTART)
            text = substr(text, 1, index(text, "</a>") - 1)
            terms++
            term[terms] = plain(text)
            term_address[terms] = attribute("href", text)
            where[term[terms]] = term_address[terms]
        }
}

function side_bar(page,    i, out, inside) {
    out = "<nav>\n<a class=\"home\" href=\"index.html\">" manual "</a>\n" \
        "<input id=\"search\" type=\"search\" placeholder=\"Search\" aria-label=\"Search\" autocomplete=\"off\">\n" \
        "<ol id=\"found\"></ol>\n<ul id=\"contents\">\n"
    for (i = 1; i <= entries; i++) {
        if (level[i] == 1) inside = page_of(address[i]) == page
        else if (!inside || level[i] > 2) continue
        out = out "<li class=\"" (level[i] > 1 ? "section" : inside ? "here" : "chapter") \
            "\"><a href=\"" address[i] "\">" label[i] "</a></li>\n"
    }
    return out "</ul>\n</nav>"
}

# The chapter after the one of this page.
function next_chapter(page,    i, inside) {
    for (i = 1; i <= entries; i++) {
        if (level[i] > 1) continue
        if (inside || page == "index.html")
            return "<p class=\"next\">Next: <a href=\"" address[i] "\">" label[i] "</a></p>"
        inside = page_of(address[i]) == page
    }
    return ""
}

# Powers in running text.
function powers(text,    out, power) {
    while (match(text, /[A-Za-z0-9.]+\^(-?[A-Za-z0-9.]*[A-Za-z0-9]|\([^()]*\))/)) {
        out = out substr(text, 1, RSTART - 1)
        power = substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
        out = out mathml(power)
    }
    return out text
}

# A line of the page: powers where it is prose, functions as links.
function prose(line,    out, tag, before, name) {
    while (match(line, /<[^>]*>/)) {
        before = substr(line, 1, RSTART - 1)
        tag = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        out = out (verbatim ? before : powers(before))
        if (tag == "<code>" && match(line, /^(struct )?bitcut_[a-z0-9_]+(\(\))?<\/code>/)) {
            name = substr(line, 1, RLENGTH - 7)
            line = substr(line, RLENGTH + 1)
            tag = "<code>" name "</code>"
            sub(/\(\)$/, "", name)
            if (name in where && !in_link) tag = "<a href=\"" where[name] "\">" tag "</a>"
        } else if (tag ~ /^<(pre|code|samp|kbd|math)[ >]/) verbatim++
        else if (tag ~ /^<\/(pre|code|samp|kbd|math)>/) verbatim--
        else if (tag ~ /^<a /) in_link = 1
        else if (tag == "</a>") in_link = 0
        out = out tag
    }
    return out (verbatim ? line : powers(line))
}

function formulas(line,    out, from, inner) {
    while (match(line, /<div class=.displaymath.><em[^>]*>[^<]*(<[^\/][^>]*>[^<]*<\/[^>]*>[^<]*)*<\/em>\n?<\/div>|<em class=.math.>([^<]|<\/?var>)*<\/em>/)) {
        inner = substr(line, RSTART, RLENGTH)
        out = out substr(line, 1, RSTART - 1) mathml(inner, inner ~ /^<div/)
        line = substr(line, RSTART + RLENGTH)
    }
    return out line
}

function end_section() {
    if (section != "")
        print "[" quoted(section) "," quoted(section_at) ",\"" words "\"]," > index_file
    section = words = ""
}

# Add the words of a line to those of its section, each once.
function add_words(line,    n, part, i) {
    gsub(/<[^>]*>/, " ", line)
    n = split(tolower(plain(line)), part, /[^a-z0-9_]+/)
    for (i = 1; i <= n; i++)
        if (length(part[i]) > 1 && !index(words " ", " " part[i] " ")) words = words " " part[i]
}

function end_page() {
    if (output == "") return
    end_section()
    print next_chapter(page) "\n</main>\n</body>\n</html>" > output
    close(output)
}

BEGIN {
    index_file = folder "/search_index.js"
    print "var searchIndex = [" > index_file
}
NR == 1 { read_contents() }
FNR == 1 {
    end_page()
    page = FILENAME
    sub(/.*\//, "", page)
    output = FILENAME ".new"
    body = verbatim = in_link = 0
    last_id = ""
}
/<title>/ && !body {
    title = plain($0)
    manual = title
    sub(/.*\(/, "", manual); sub(/\).*/, "", manual)
}
/^<body/ {
    print "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">" \
        "\n<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">" \
        "\n<title>" title "</title>\n<link rel=\"stylesheet\" href=\"manual.css\">" \
        "\n<script defer src=\"search_index.js\"></script>" \
        "\n<script defer src=\"search.js\"></script>\n</head>\n<body>\n" side_bar(page) \
        "\n<main>" > output
    body = 1
    next
}
/^<\/(body|html)>/ { body = 0 }
!body || /^<hr>$|<h1 class="settitle"/ { next }
/^<div class="(header|nav-panel)">/ { links = 1 }
links { links = !/<\/div>/; next }
/<em class=.math.>|<div class=.displaymath.>/ {
    line = $0
    while (line ~ /<em[^>]*>[^<]*$/ && (getline more) > 0) line = line "\n" more
    if (line ~ /displaymath/ && line !~ /<\/div>/ && (getline more) > 0) line = line "\n" more
    $0 = formulas(line)
}
{
    gsub(/src="figures\//, "src=\"")
    if (match($0, /<h[1-5] class="(chapter|section|subsection|subsubsection|subheading|subsubheading|top|unnumbered)"/) ) {
        end_section()
        section = plain($0)
        gsub(/ *[^ -~]+ *$/, "", section)
        section_at = page "#" (attribute(" id", $0) != "" ? attribute(" id", $0) : last_id)
        if (page == "Index.html" || page == "index.html") section = ""
    } else if (section != "") add_words($0)
    line = $0
    while (match(line, / id="[^"]*"/)) {
        last_id = substr(line, RSTART + 5, RLENGTH - 6)
        line = substr(line, RSTART + RLENGTH)
    }
    print prose($0) > output
}
END {
    end_page()
    for (i = 1; i <= terms; i++)
        print "[" quoted(term[i]) "," quoted(term_address[i]) "]," > index_file
    print "];" > index_file
}
