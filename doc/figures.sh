#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The figures of the manual and of README.md, drawn by gnuplot from what bitcut prints, and from
# the rows of data/torch:
#
#     figures.sh FOLDER
#
# writes NAME.svg (HTML), NAME.pdf (TeX) and NAME.txt (info) for each; `make figures` writes
# those that are kept.
set -eu
[ $# -eq 1 ] || { sed -n 's/^#     //p' "$0" >&2; exit 2; }
folder=$(cd "$1" && pwd)
rows=$(cd "$(dirname "$0")/.." && pwd)/data/torch/transformer.jsonl
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# number KEY: its values in JSON Lines.
number() { sed -n "s/.*\"$1\":\([-+.e0-9]*\).*/\1/p"; }

# drawn NAME SCRIPT: in the three forms; SCRIPT sets all but the terminal.
drawn() {
    {
        echo "set terminal svg size 520,360 font 'sans,12' background rgb 'white' noenhanced"
        echo "set output '$folder/$1.svg'"
        echo "$2"
    } | gnuplot
    {
        echo "set terminal pdfcairo size 4.9in,3.3in font 'sans,10' noenhanced"
        echo "set output '$folder/$1.pdf'"
        echo "$2"
    } | gnuplot
    {
        echo "set terminal dumb size 76,24 noenhanced"
        echo "set output 'text'"
        echo "$2"
    } | gnuplot
    sed 's/[[:space:]]*$//' text | sed '/./,$!d' | tr -d '\f' > "$folder/$1.txt"
}

# Colours and marks of the report; a recipe and its split have the same.
styles="set style line 1 lc rgb '#0072B2' pt 7 lw 2 ps 0.6
set style line 2 lc rgb '#D55E00' pt 5 lw 2 ps 0.6
set style line 3 lc rgb '#009E73' pt 9 lw 2 ps 0.6
set style line 4 lc rgb '#E69F00' pt 11 lw 2 ps 0.6
set style line 5 lc rgb '#000000' pt 1 lw 2 ps 0.6
set style line 6 lc rgb '#56B4E9' pt 2 lw 2 ps 0.6
set grid"

# kept: mean bits of an FP32 value that words keep, by its exponent.
for split in halfhalf bitcut-gradual markidis tf32tf32 bf16x3; do
    bitcut split --split $split --from -40 --to 20 --json > rows
    number exponent < rows > x
    number bits < rows > y
    paste x y > $split
done
drawn kept "$styles
set xlabel 'exponent of the FP32 value'
set ylabel 'bits retained, of 24'
set yrange [0:26]
set xrange [-40:20]
set key outside top center horizontal width 2
plot 'halfhalf' with lines ls 1 title 'ootomo', 'bitcut-gradual' with lines ls 2 title 'legemm, gradual', \
  'markidis' with lines ls 3 title 'markidis', 'tf32tf32' with lines ls 6 title 'ootomo-tf32', \
  'bf16x3' with lines ls 5 dt 2 title 'bf16x9'"

# length: error against k, on the unit of an H100.
for recipe in plain markidis legemm ootomo fp32; do
    unit=h100
    for k in 16 32 64 128 256 512 1024 2048 4096 8192; do
        bitcut gemm --recipe $recipe --unit $unit -m 64 -n 64 -k $k --json > row
        echo "$k $(number relres < row)"
    done > $recipe
done
drawn length "$styles
set logscale x 2
set logscale y 10
set format y '%.0e'
set xlabel 'k'
set ylabel 'relative residual'
set yrange [3e-8:1e-3]
set key outside top center horizontal
plot 'plain' with linespoints ls 4 title 'plain', 'markidis' with linespoints ls 3 title 'markidis', \
  'legemm' with linespoints ls 2 title 'legemm', 'fp32' with linespoints ls 5 title 'fp32', \
  'ootomo' with linespoints ls 1 title 'ootomo'"

# faults: the largest error of faulty kernels beside the limits of a test.
bitcut tolerance --recipe ootomo --unit h100 -m 32 -n 32 -k 256 --json > row
sed 's/.*"power":\[//' row | sed 's/},{/\n/g' |
    sed -n 's/.*"kernel":"\([^"]*\)".*"error":\([-+.e0-9]*\),.*/\2\t\1/p' > kernels
cat > names << END
as it is
another order
high parts rounded otherwise
promotion truncated
never promoted
small inputs flushed
one bit flipped
low parts zero
f16 accumulators
term missing
k lost
one output zero
one tile twice
END
awk -F '\t' 'NR == FNR { wanted[$0] = 1; next } $2 in wanted' names kernels | sort -g > faults
# limit NAME MEMBER: in u |A||B|.
limit() { sed "s/.*\"$1\":{\([^}]*\)}.*/\1/" row | tr ',' '\n' | sed -n "s/\"$2\":\([-+.e0-9]*\)/\1/p"; }
observed=$(limit componentwise limit) bound=$(limit componentwise bound)
drawn faults "$styles
set datafile separator '\t'
set logscale x 10
set format x '1e%T'
set xlabel 'largest |D - C|, in u |A||B| (median of the runs)'
set yrange [-1:13]
set lmargin 24
set xrange [0.02:1e7]
unset key
set arrow from $observed, graph 0 to $observed, graph 1 nohead lc rgb '#009E73' lw 2
set arrow from $bound, graph 0 to $bound, graph 1 nohead lc rgb '#D55E00' lw 2
set label 'observed' at $observed, graph 0.93 right offset -0.5,0
set label 'for certain' at $bound, graph 0.05 left offset 0.5,0
plot 'faults' using 1:0:yticlabels(2) with points ls 1 notitle"

# training, apart: the loss of a transformer by configurations, at each step, and the largest difference to
# FP64 in ten steps.
losses() { sed -n 's|.*"configuration": "'"$1"'".*"loss": \[\(.*\)\].*|\1|p' "$rows" | tr -d ' ' | tr ',' '\n'; }
losses fp64 > exact
while read -r name configuration; do
    losses "$configuration" > "$name"
    paste "$name" exact | awk '{ d[NR] = $1 > $2 ? $1 - $2 : $2 - $1 }
        END { for (i = 1; i <= NR; i++) { most = 0
            for (j = i - 9; j <= i; j++) if (d[j] > most) most = d[j]
            print i, most } }' > "$name-apart"
done << END
own own
ootomo ootomo@a100
tf32 cublas-tf32@a100
xf32 plain@cdna3/mfma.16x16x8.f32.xf32,split=tf32,high=rz
legemm legemm@mi210
flushed ootomo@mi210
plain plain@mi210
END
drawn training "$styles
set xlabel 'step'
set ylabel 'loss'
set yrange [0:4]
set xrange [0:200]
set key bottom left
plot 'plain' with lines ls 4 title 'plain, MI210', 'flushed' with lines ls 1 dt 2 title 'ootomo, MI210', \
  'xf32' with lines ls 6 title 'xf32, MI300', 'tf32' with lines ls 3 title 'TF32, A100', \
  'legemm' with lines ls 2 title 'legemm, MI210', 'own' with lines ls 5 dt 2 title 'FP32'"
drawn apart "$styles
set xlabel 'step'
set ylabel '|loss - loss of FP64|'
set logscale y 10
set format y '1e%T'
set yrange [5e-8:20]
set xrange [0:200]
set key outside top center horizontal
plot 'plain-apart' with lines ls 4 title 'plain, MI210', \
  'flushed-apart' with lines ls 1 dt 2 title 'ootomo, MI210', \
  'xf32-apart' with lines ls 6 title 'xf32, MI300', 'tf32-apart' with lines ls 3 title 'TF32, A100', \
  'legemm-apart' with lines ls 2 title 'legemm, MI210', \
  'ootomo-apart' with lines ls 1 title 'ootomo, A100', 'own-apart' with lines ls 5 title 'FP32'"
