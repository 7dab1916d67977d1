/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/verify_say.h"

#include "analysis/cli/say.h"
#include "lib/text.h"

static bool say_compared(char *text, size_t size, const struct emit_line *line,
                         const json_t *row)
{
    const long long compared = whole_at(row, line->key), total = whole_at(row, "total");
    const json_t *runs = json_object_get(row, "configurations");
    say_more(text, size, "%s%lld", compared == total ? "all " : "", (long long)compared);
    if (compared < total) say_more(text, size, " of %lld", (long long)total);
    say_more(text, size, " %s", json_object_get(row, "format") ? "words" : "outputs");
    if (runs)
        say_more(text, size, " of %lld GEMMs and batches",
                 (long long)json_integer_value(runs));
    say_more(text, size, ", bit for bit%s",
             compared < total ? ", a sample (--seed)" : "");
    return true;
}

static bool say_differ(char *text, size_t size, const struct emit_line *line,
                       const json_t *row)
{
    const long long differ = whole_at(row, line->key),
                    compared = whole_at(row, "compared");
    if (differ)
        say_more(text, size, "%lld, %.3g %%", (long long)differ,
                 100. * (double)differ / (double)compared);
    else say_more(text, size, "none");
    return true;
}

/* Who has what in a first difference. */
static void say_sides(char *text, size_t size, const json_t *first)
{
    static const char *const side[][2] = { { "file", "the file has" },
                                           { "device", "the device has" },
                                           { "emulator", "the emulator" },
                                           { "model", "the model" } };
    const char *differ = json_string_value(json_object_get(first, "differ"));
    const json_t *ulps = json_object_get(first, "ulps");
    const char *between = "";
    for (size_t i = 0; i < sizeof side / sizeof *side; i++) {
        const char *value = json_string_value(json_object_get(first, side[i][0]));
        if (value) say_more(text, size, "%s%s %s", between, side[i][1], value);
        if (value) between = ", ";
    }
    if (differ) say_more(text, size, ": %s", differ);
    else if (json_is_integer(ulps))
        say_more(text, size, ": %lld ulp%s apart", (long long)json_integer_value(ulps),
                 json_integer_value(ulps) == 1 ? "" : "s");
}

static bool say_first(char *text, size_t size, const struct emit_line *line,
                      const json_t *row)
{
    const json_t *first = json_object_get(row, line->key),
                 *at = json_object_get(first, "at");
    const char *x = json_string_value(json_object_get(first, "x"));
    if (x) say_more(text, size, "word %lld of %s: ", whole_at(first, "word"), x);
    else if (json_is_array(at))
        say_more(text, size, "row %lld, column %lld: ",
                 (long long)json_integer_value(json_array_get(at, 0)),
                 (long long)json_integer_value(json_array_get(at, 1)));
    else say_more(text, size, "memory of D that is no output: ");
    say_sides(text, size, first);
    say_outputs(text, size, json_object_get(row, "differing"), 1);
    return true;
}

/* In which of the GEMMs of a trial. */
static bool say_where(char *text, size_t size, const struct emit_line *line,
                      const json_t *row)
{
    const json_t *first = json_object_get(row, line->key);
    const char *ab = text_at(first, "transposes"), *cd = text_at(first, "outputs");
    char alpha[SAY_NUMBER_MOST], beta[SAY_NUMBER_MOST];
    if (!ab || !cd) return false;
    say_more(text, size, "m, n, k = %lld, %lld, %lld; values: %s; alpha %s, beta %s; %s",
             whole_at(first, "m"), whole_at(first, "n"), whole_at(first, "k"),
             text_at(first, "input"), say_number(alpha, first, "alpha", 9),
             say_number(beta, first, "beta", 9), text_at(first, "layout"));
    for (int i = 0; i < 4; i++)
        if ((i < 2 ? ab : cd)[i % 2] == 't')
            say_more(text, size, ", %c column-major", "ABCD"[i]);
    if (json_is_true(json_object_get(first, "in_place")))
        say_more(text, size, ", D is C");
    if (whole_at(first, "count") > 1)
        say_more(text, size, "; GEMM %lld of a batch of %lld", whole_at(first, "gemm"),
                 whole_at(first, "count"));
    if (whole_at(first, "k_step"))
        say_more(text, size, "; from k-step %lld on", whole_at(first, "k_step"));
    else if (json_is_integer(json_object_get(first, "k_step")))
        say_more(text, size, "; even without any k");
    return true;
}

static bool say_verdict(char *text, size_t size, const struct emit_line *line,
                        const json_t *row)
{
    const bool same = !whole_at(row, line->key),
               sample = whole_at(row, "compared") < whole_at(row, "total");
    say_more(text, size, "%s %s of this recipe on this unit, to the bit",
             same && sample ? "the sample is" : "D is", same ? "that" : "not that");
    if (!same && !json_object_get(row, "kernel"))
        say_more(text, size,
                 "; another order of k is enough for that: bitcut tolerance -d tells "
                 "whether its errors are those of a correct kernel");
    return text_at(row, "recipe");
}

static bool say_run(char *text, size_t size, const struct emit_line *line,
                    const json_t *row)
{
    char seed[SAY_NUMBER_MOST];
    say_more(text, size, "on %s, driver %s, %s, seed %s", text_at(row, "device"),
             text_at(row, "driver"), text_at(row, line->key),
             say_number(seed, row, "seed", 20));
    return true;
}

/* What made D. */
static bool say_code(char *text, size_t size, const struct emit_line *line,
                     const json_t *row)
{
    const json_t *counts = json_object_get(row, "counts");
    say_more(text, size, "%s of %s on %s: %lld instructions, %lld of them matrix ones",
             text_at(row, "kernel"), text_at(row, line->key), text_at(row, "device"),
             whole_at(counts, "instructions"), whole_at(counts, "matrix"));
    return true;
}

const struct emit_line verify_lines[] = {
    /* clang-format off */
    SAY_GEMM,
    { "code",       "kernel",           NULL, say_code,     LINE_ALWAYS },
    { "date",       "run",              NULL, say_run,      LINE_ALWAYS },
    { "n",          "matrices",         NULL, say_matrices, LINE_ALWAYS },
    { "compared",   "compared",         NULL, say_compared, LINE_ALWAYS },
    { "mismatches", "differ",           NULL, say_differ,   LINE_ALWAYS },
    { "first",      "first difference", NULL, say_first,    LINE_BELOW  },
    { "first",      "in",               NULL, say_where,    LINE_BELOW  },
    { "mismatches", "verdict",          NULL, say_verdict,  LINE_ALWAYS },
    { "hypothesis", "explanation",      NULL, say_value,    LINE_BELOW  },
    { 0 }
    /* clang-format on */
};

/* Of several kernels, and of several splits. */
const struct emit_column verify_kernel_columns[] = {
    /* clang-format off */
    { "kernel",         "kernel",   0, NULL    },
    { "recipe",         "recipe",   0, NULL    },
    { "unit",           "unit",     0, NULL    },
    { "split",          "words",    0, NULL    },
    { "equilibrate",    "scaled",   0, "false" },
    { "split_k",        "slices",   0, "1"     },
    { "configurations", "GEMMs",    0, NULL    },
    { "compared",       "compared", 0, NULL    },
    { "mismatches",     "differ",   0, NULL    },
    { 0 }
    /* clang-format on */
};

const struct emit_column verify_split_columns[] = {
    /* clang-format off */
    { "split",       "split",    0, NULL    },
    { "format",      "format",   0, NULL    },
    { "low_format",  "others",   0, NULL    },
    { "high",        "high",     0, NULL    },
    { "low",         "low",      0, NULL    },
    { "scale",       "scale",    0, NULL    },
    { "equilibrate", "scaled",   0, "false" },
    { "compared",    "compared", 0, NULL    },
    { "mismatches",  "differ",   0, NULL    },
    { 0 }
    /* clang-format on */
};
