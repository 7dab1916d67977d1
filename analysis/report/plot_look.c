/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/report/plot_look.h"

#include <string.h>

enum { NAMES_MAX = 6 };

/* Colours that most people can distinguish (Okabe and Ito 2008, and darker ones), each
   with a filled mark, and its open form for variants. */
static const struct {
    const char *colour;
    int mark, open;
    const char *name[NAMES_MAX]; /* recipes, their splits, peers, and words of studies,
                                    ended by NULL; none: the look of all other names */
} looks[] = {
    /* clang-format off */
    { "#0072B2",  7,  6, { "ootomo", "halfhalf", "promoted", "unpromoted" } },
    { "#D55E00",  5,  4, { "legemm", "bitcut", "bitcut-gradual" } },
    { "#009E73",  9,  8, { "markidis" } },
    { "#E69F00", 11, 10, { "plain", "f16", "half" } },
    { "#000000",  1,  2, { "fp32", "f32", "sgemm" } },
    { "#CC79A7", 13, 12, { "feng", "feng22", "truncated" } },
    { "#56B4E9", 15, 14, { "ootomo-tf32", "tf32tf32" } },
    { "#8C6D31",  3,  3, { "tf32", "sgemm-tf32", "cublas-tf32", "tf32-rn" } },
    { "#5B3A8C",  7,  6, { "tf32x3", "xf32" } },
    { "#5B3A8C",  9,  8, { "cutlass-tf32x3", "cutlass-tf32x2" } },
    { "#5B3A8C", 11, 10, { "triton-tf32x3", "triton-tf32x2" } },
    { "#E69F00", 13, 12, { "hgemm" } },
    { "#E69F00",  5,  4, { "half-fp8", "half-e4m3", "half-e5m2" } },
    { "#D55E00",  9,  8, { "half-int8", "half-s8" } },
    { "#7B2CBF", 15, 14, { "ootomo3" } },
    { "#7F7F7F",  5,  4, { "bf16x3", "bf16", "bf16x2" } },
    { "#7F7F7F",  7,  6, { "triton-bf16x3" } },
    { "#7F7F7F",  9,  8, { "xla-bf16x3" } },
    { "#7F7F7F", 11, 10, { "bf16-daz" } },
    { "#2F6B3A",  9,  8, { "bf16x6" } },
    { "#2F6B3A",  7,  6, { "triton-bf16x6" } },
    { "#2F6B3A", 11, 10, { "xla-bf16x6" } },
    { "#A03030", 11, 10, { "bf16x9", "bf16x3-scaled" } },
    { "#A03030",  5,  4, { "cutlass-sm100-bf16x9", "cutlass-bf16x3" } },
    { "#A03030",  7,  6, { "xla-bf16x9" } },
    { "#0B4F6C", 13, 12, { NULL } },
    { "#B5651D", 15, 14, { NULL } },
    { "#6A994E",  7,  6, { NULL } },
    { "#9B2226",  5,  4, { NULL } },
    { "#6C757D",  9,  8, { NULL } },
    { "#7B2CBF", 11, 10, { NULL } },
    /* clang-format on */
};

enum { LOOKS = sizeof looks / sizeof looks[0], DASHES = 5 };

/* Roofs: those from data sheets are lighter than recorded ones. */
#define RECORDED "#404040"
#define PRINTED  "#8FA3B5"

/* The look of that name, or -1. */
static int look_of_name(const char *name, size_t length)
{
    for (int i = 0; i < LOOKS; i++)
        for (int j = 0; j < NAMES_MAX && looks[i].name[j]; j++)
            if (strlen(looks[i].name[j]) == length &&
                !strncmp(looks[i].name[j], name, length))
                return i;
    return -1;
}

bool plot_has_look(const char *name) { return look_of_name(name, strlen(name)) >= 0; }

/* The look for a word of the series name, whole or up to one of its '-', or -1. */
static int look_of_series(const char *series)
{
    static const char between[] = " ,:/.()";
    for (series += strspn(series, between); *series; series += strspn(series, between)) {
        const size_t whole = strcspn(series, between);
        for (size_t length = whole; length > 0; length--) {
            if (length < whole && series[length] != '-') continue;
            const int look = look_of_name(series, length);
            if (look >= 0) return look;
        }
        series += whole;
    }
    return -1;
}

/* A roof has the dashes of earlier roofs for the same number of products. */
static struct plot_look look_of_roof(const struct plot_look *look,
                                     const struct plot_data *d, size_t series,
                                     int *dashes)
{
    const json_int_t products = plot_roof_products(d, series);
    struct plot_look own = { plot_roof_source(d, series) ? PRINTED : RECORDED, 0, 0 };
    for (size_t i = 0; i < series && !own.dash; i++)
        if (plot_is_roof(d, i) && plot_roof_products(d, i) == products)
            own.dash = look[i].dash;
    if (!own.dash) own.dash = (*dashes)++ % (DASHES - 1) + 2;
    return own;
}

void plot_choose_looks(struct plot_look *look, const struct plot_data *d)
{
    int seen[LOOKS] = { 0 }, next = LOOKS - 1, dashes = 0;
    for (size_t i = 0; i < d->series.groups; i++) {
        if (plot_is_roof(d, i)) {
            look[i] = look_of_roof(look, d, i, &dashes);
            continue;
        }
        int own = look_of_series(plot_series_name(d, i));
        if (own < 0) {
            do next = (next + 1) % LOOKS;
            while (looks[next].name[0]);
            own = next;
        }
        const int variant = seen[own]++;
        look[i] = (struct plot_look){ looks[own].colour,
                                      variant ? looks[own].open : looks[own].mark,
                                      variant % DASHES + 1 };
    }
}
