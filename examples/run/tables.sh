#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tables of the manual ("What a unit does to a program") as lines of Texinfo, from the rows
# that run.py wrote:  tables.sh ROWS.jsonl
set -eu
[ $# -eq 1 ] || { sed -n 's/^# that run.py wrote:  /usage: /p' "$0" >&2; exit 2; }
awk '
    function get(key,    text) {
        if (!match($0, "\"" key "\": (\"[^\"]*\"|[^,}]*)")) return ""
        text = substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 4)
        gsub(/^"|"$/, "", text)
        return text
    }
    function keep(list,    i, n, key) {
        n = split(list, key)
        for (i = 1; i <= n; i++)
            if (get(key[i]) != "")
                value[get("program"), get("configuration"), get("case"), key[i]] = get(key[i])
    }
    function number(format, program, configuration, of, key,    x) {
        x = value[program, configuration, of, key]
        return x == "" || x ~ /inf|nan/ ? "none" : sprintf(format, x)
    }
    function name(configuration,    more) {
        if (configuration == "own") return "its own FP32"
        sub(/@/, "@@", configuration)
        if (sub(/,equilibrate/, "", configuration)) more = ", equilibrated"
        return "@code{" configuration "}" more
    }
    # FORMAT:PROGRAM:CASE:KEY, with commas between, a column each.
    function table(columns,    w, i, n, column, part, line) {
        n = split(columns, column, ",")
        for (w = 1; w <= configurations; w++) {
            line = "@item " name(configuration[w])
            for (i = 1; i <= n; i++) {
                split(column[i], part, ":")
                line = line " @tab " number(part[1], part[2], configuration[w], part[3], part[4])
            }
            print line
        }
    }
    # What became of the calls, a line a program.
    function calls(    p, w, line, taken, sampled, equal, original) {
        for (p = 1; p <= programs; p++) {
            taken = sampled = equal = original = 0
            for (w = 2; w <= configurations; w++) {
                taken += value[program[p], configuration[w], "calls", "taken"]
                sampled += value[program[p], configuration[w], "calls", "sampled"]
                equal += value[program[p], configuration[w], "calls", "equal"]
                original += value[program[p], configuration[w], "calls", "original"]
            }
            print "@item " program[p] " @tab " taken " @tab " original " @tab " equal " of " \
                sampled " @tab " number("%.1f", program[p], "own", "calls", "seconds") " @tab " \
                number("%.1f", program[p], "ootomo@a100", "calls", "seconds") " @tab " \
                number("%.1f", program[p], "legemm@mi210", "calls", "seconds") " @tab " \
                number("%.1f", program[p], "plain@h100", "calls", "seconds") " @tab " \
                number("%.1f", program[p], "legemm@mi210", "compared", "seconds")
        }
    }
    # What an audit says, a line a program.
    function audits(    p, of) {
        for (p = 1; p <= programs; p++) {
            of = program[p]
            print "@item " of " @tab " value[of, "own", "audit", "calls"] " @tab " \
                value[of, "own", "audit", "call_sites"] " @tab " \
                value[of, "own", "audit", "watched"] " @tab " \
                number("%.1f %%", of, "own", "audit", "share") " @tab " \
                number("%.1e", of, "own", "audit", "relres") " @tab " \
                number("%.1f", of, "own", "audit", "backward") " @tab " advice[of]
        }
    }
    function call_sites(    i, line) {
        for (i = 1; i <= spots; i++) {
            line = spot[i]
            print "@item " line " @tab " sprintf("%.1g", apart[line, "plain@h100"]) " @tab " \
                sprintf("%.1g", apart[line, "legemm@mi210"]) " @tab " \
                sprintf("%.1g", apart[line, "ootomo@mi210"])
        }
    }
    get("case") == "call_site" && get("program") == "train" {
        at = get("call_site")
        sub(/.*:/, "", at)
        sub(/ .*/, "", at)
        at = at " @tab " get("m") " x " get("n") " x " get("k")
        if (!(at in known)) { known[at] = 1; spot[++spots] = at }
        apart[at, get("configuration")] = get("difference")
    }
    get("case") == "call_site" { next }
    get("case") == "audit" {
        at = get("program")
        match($0, /"advice": "[^"]*"/)
        advice[at] = substr($0, RSTART + 11, RLENGTH - 12)
    }
    !(get("configuration") in is_configuration) { is_configuration[get("configuration")] = 1; configuration[++configurations] = get("configuration") }
    !(get("program") in is_program) {
        is_program[get("program")] = 1
        program[++programs] = get("program")
    }
    { keep("relres first labels passes inertia loss weights error orthogonality residual values " \
           "steps taken original sampled equal seconds calls call_sites watched share backward") }
    END {
        calls()
        audits()
        table("%.1e:matmul:signed:relres,%.1e:matmul:positive:relres,%.1e:matmul:small:relres," \
              "%.1e:matmul:syrk:relres,%.1e:products:sgemm:relres")
        table("%.0f:kmeans:sklearn:first,%.0f:kmeans:sklearn:labels,%.0f:kmeans:sklearn:passes," \
              "%.0f:kmeans:sklearn:inertia,%.0f:kmeans:numpy:first,%.0f:kmeans:numpy:labels," \
              "%.0f:kmeans:numpy:passes,%.0f:kmeans:numpy:inertia")
        table("%.4f:train:loss * 1:loss,%.1e:train:loss * 1:weights,%.4f:train:loss * 4096:loss," \
              "%.1e:train:loss * 4096:weights")
        call_sites()
        table("%.1e:least_squares:lstsq 1e1:error,%.1e:least_squares:lstsq 1e4:error," \
              "%.1e:least_squares:qr 1e1:error,%.1e:least_squares:qr 1e4:error," \
              "%.1e:least_squares:qr 1e1:orthogonality,%.1e:least_squares:qr 1e1:residual")
        table("%.1e:eigen:symmetric QR:residual,%.1e:eigen:symmetric QR:values," \
              "%.1e:eigen:symmetric D&C:residual,%.1e:eigen:symmetric D&C:values," \
              "%.1e:eigen:general:residual,%.1e:eigen:general:values")
        table("%d:refine:1e1:steps,%d:refine:1e2:steps,%d:refine:1e3:steps,%d:refine:1e4:steps," \
              "%d:refine:1e5:steps,%d:refine:1e6:steps,%.1e:solve:A \\\\ b:relres")
    }' "$1"
