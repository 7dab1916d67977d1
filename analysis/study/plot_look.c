#include "analysis/study/plot_look.h"

#include <string.h>

/* Colours that most eyes tell apart (Okabe and Ito 2008, and darker ones), each with a
   mark that is filled, and its open form for variants. */
static const struct {
    const char
        *names; /* of recipes, splits and kernels, with blanks around; NULL: nobody's */
    const char *colour;
    int mark, open;
} looks[] = {
    /* clang-format off */
    { " ootomo halfhalf promoted unpromoted ",         "#0072B2",  7,  6 },
    { " legemm bitcut ",                               "#D55E00",  5,  4 },
    { " markidis ",                                    "#009E73",  9,  8 },
    { " plain f16 half ",                        "#E69F00", 11, 10 },
    { " fp32 f32 sgemm ",                              "#000000",  1,  2 },
    { " feng truncated ",                              "#CC79A7", 13, 12 },
    { " ootomo-tf32 tf32tf32 ",                        "#56B4E9", 15, 14 },
    { " tf32 sgemm-tf32 ",                             "#8C6D31",  3,  3 },
    { " tf32x3 xf32 ",                         "#5B3A8C",  7,  6 },
    { " hgemm ",  "#E69F00", 13, 12 },
    { " ootomo3 ", "#7B2CBF", 15, 14 },
    { " bf16x3 bf16 ",                                 "#7F7F7F",  5,  4 },
    { " bf16x6 ",                                      "#2F6B3A",  9,  8 },
    { " bf16x9 ",                                      "#A03030", 11, 10 },
    { NULL,                                            "#0B4F6C", 13, 12 },
    { NULL,                                            "#B5651D", 15, 14 },
    { NULL,                                            "#6A994E",  7,  6 },
    { NULL,                                            "#9B2226",  5,  4 },
    { NULL,                                            "#6C757D",  9,  8 },
    { NULL,                                            "#7B2CBF", 11, 10 },
    /* clang-format on */
};

enum { LOOKS = sizeof looks / sizeof looks[0], WORD_MOST = 40, DASHES = 5 };

/* The look whose names have the word, or -1. */
static int look_of_word(const char *word, size_t length)
{
    char padded[WORD_MOST + 3] = " ";
    if (!length || length > WORD_MOST) return -1;
    strncat(padded, word, length);
    strcat(padded, " ");
    for (int i = 0; i < LOOKS; i++)
        if (looks[i].names && strstr(looks[i].names, padded)) return i;
    return -1;
}

/* The look of the recipe that a word of the series names, whole or up to its last '-' but
   one, or -1. */
static int look_of_recipe(const char *series)
{
    static const char between[] = " ,:/.()";
    for (series += strspn(series, between); *series; series += strspn(series, between)) {
        const size_t whole = strcspn(series, between);
        for (size_t length = whole; length > 0; length--) {
            if (length < whole && series[length] != '-') continue;
            const int look = look_of_word(series, length);
            if (look >= 0) return look;
        }
        series += whole;
    }
    return -1;
}

void plot_choose_looks(struct plot_look *look, const struct plot_data *d)
{
    int seen[LOOKS] = { 0 }, next = LOOKS - 1, roofs = 0;
    for (size_t i = 0; i < d->series.groups; i++) {
        int own = look_of_recipe(plot_series_name(d, i));
        if (own < 0 && !plot_is_roof(d, i)) {
            do next = (next + 1) % LOOKS;
            while (looks[next].names);
            own = next;
        }
        if (plot_is_roof(d, i)) {
            look[i] = (struct plot_look){ "#404040", 0, roofs++ % (DASHES - 1) + 2 };
            continue;
        }
        const int variant = seen[own]++;
        look[i] = (struct plot_look){ looks[own].colour,
                                      variant ? looks[own].open : looks[own].mark,
                                      variant % DASHES + 1 };
    }
}
