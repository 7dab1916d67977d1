# SPDX-License-Identifier: BSD-3-Clause
# mathml(FORMULA): what stands in @math{} as MathML, from its HTML.  A formula has numbers, names
# (those of Greek letters are the letter), operators, groups in braces, sqrt( ), and _ and ^ with
# a number, a name or a group behind them; what they raise or lower loses its parentheses.

BEGIN {
    n = split("alpha beta gamma delta epsilon theta rho sigma", letter, " ")
    for (i = 1; i <= n; i++) symbol[letter[i]] = "<mi>&" letter[i] ";</mi>"
    symbol["leq"] = "<mo>&le;</mo>"
    symbol["geq"] = "<mo>&ge;</mo>"
    symbol["sum"] = "<mo>&sum;</mo>"
    symbol["dots"] = "<mo>&hellip;</mo>"
}

# Whether the formula goes on with a PATTERN, which is then taken from it into `token`.
function takes(pattern) {
    if (!match(formula, "^(" pattern ")")) return 0
    token = substr(formula, 1, RLENGTH)
    formula = substr(formula, RLENGTH + 1)
    return 1
}

function group(end,    out) {
    while (formula != "" && !match(formula, "^" end)) out = out item()
    takes(end)
    return "<mrow>" out "</mrow>"
}

# A number, name, operator or group; SCRIPT: raised or lowered.
function atom(script,    inner) {
    takes(" +")
    if (takes("[{]")) return group("[}]")
    if (takes("\\\\?sqrt *[({]")) { inner = group("[)}]"); return "<msqrt>" inner "</msqrt>" }
    if (takes("[(]")) {
        inner = group("[)]")
        return script ? inner : "<mrow><mo>(</mo>" inner "<mo>)</mo></mrow>"
    }
    if (script && takes("-|&minus;")) {
        while (formula ~ /^[A-Za-z0-9]/) inner = inner atom(0)
        return "<mrow><mo>&minus;</mo>" inner "</mrow>"
    }
    if (takes("[0-9]+([.][0-9]+)?")) return "<mn>" token "</mn>"
    if (takes("\\\\?[A-Za-z]+'*")) {
        sub(/^\\/, "", token)
        return token in symbol ? symbol[token] : "<mi>" token "</mi>"
    }
    if (takes("-|&minus;")) return "<mo>&minus;</mo>"
    if (takes("&[a-z#0-9]+;|[|]+|<=|.")) return "<mo stretchy=\"false\">" token "</mo>"
    return ""
}

function item(    base, low, high) {
    base = atom(0)
    if (takes("_")) low = atom(1)
    if (takes("\\^")) high = atom(1)
    if (low != "" && high != "") return "<msubsup>" base low high "</msubsup>"
    if (low != "") return "<msub>" base low "</msub>"
    if (high != "") return "<msup>" base high "</msup>"
    return base
}

function mathml(text, display) {
    gsub(/<[^>]*>/, "", text)
    gsub(/[ \n]+/, " ", text)
    sub(/^ /, "", text)
    formula = text
    return "<math" (display ? " display=\"block\"" : "") ">" group("$^") "</math>"
}
