/* Whole arrays of encodings, converted and split: what lib/bitcut.h declares. */
#include "lib/format.h"
#include "lib/split.h"
#include "lib/status.h"

static uint64_t element(const void *array, int bytes, size_t i)
{
    switch (bytes) {
    case 1: return ((const uint8_t *)array)[i];
    case 2: return ((const uint16_t *)array)[i];
    case 4: return ((const uint32_t *)array)[i];
    default: return ((const uint64_t *)array)[i];
    }
}

static void element_set(void *array, int bytes, size_t i, uint64_t x)
{
    switch (bytes) {
    case 1: ((uint8_t *)array)[i] = (uint8_t)x; break;
    case 2: ((uint16_t *)array)[i] = (uint16_t)x; break;
    case 4: ((uint32_t *)array)[i] = (uint32_t)x; break;
    default: ((uint64_t *)array)[i] = x;
    }
}

/* Whether two numbers are one: a zero only of the same sign, any NaN. */
static bool same_number(const struct bitcut_format *f, uint64_t x,
                        const struct bitcut_format *g, uint64_t y)
{
    const struct number a = format_decode(f, x), b = format_decode(g, y);
    if (a.kind == NUMBER_NAN || b.kind == NUMBER_NAN) return a.kind == b.kind;
    return a.negative == b.negative && format_to_double(f, x) == format_to_double(g, y);
}

/* The bits that a format reads. */
static uint64_t of_format(const struct bitcut_format *f, uint64_t x)
{
    return x & (UINT64_MAX >> (64 - f->bits));
}

enum bitcut_status bitcut_format_convert_array(size_t *changed, void *to_array,
                                               const struct bitcut_format *to,
                                               const struct bitcut_rounding *rounding,
                                               const void *from_array,
                                               const struct bitcut_format *from,
                                               size_t count)
{
    size_t other = 0;
    if (!to || !rounding || !from || (count && (!to_array || !from_array)))
        return BITCUT_BAD_ARGUMENT;
    const int bytes = format_bytes(to), from_bytes = format_bytes(from);
    for (size_t i = 0; i < count; i++) {
        const uint64_t x = of_format(from, element(from_array, from_bytes, i)),
                       y = bitcut_format_convert(to, rounding, from, x);
        other += !same_number(from, x, to, y);
        element_set(to_array, bytes, i, y);
    }
    if (changed) *changed = other;
    return BITCUT_OK;
}

enum bitcut_status bitcut_split_array(void *const array[3],
                                      const struct bitcut_split *split, const uint32_t *x,
                                      size_t count)
{
    if (!split || !array || (count && !x)) return BITCUT_BAD_ARGUMENT;
    for (size_t i = 0; i < count; i++) {
        uint64_t word[SPLIT_WORDS_MOST];
        split_words(word, split, x[i]);
        for (int w = 0; w < split->words; w++)
            if (array[w])
                element_set(array[w], format_bytes(split->word[w].format), i, word[w]);
    }
    return BITCUT_OK;
}
