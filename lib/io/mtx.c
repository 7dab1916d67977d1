/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "lib/io/mtx.h"

#include "lib/base/text.h"
#include "lib/io/decimal.h"
#include "lib/io/output.h"
#include "lib/io/stream.h"
#include "lib/number/fma.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- lines and words -------------------------------------------------------------- */

enum { WORDS_MAX = 6 }; /* one more than any line needs, to detect surplus words */
enum { WORD_QUOTED = 30 };
enum { LINE_LENGTH_MAX = 1 << 16 };

/* A file and the line that was read last. */
struct lines {
    struct stream stream;
    char text[LINE_LENGTH_MAX + 1];
    uint64_t number; /* number of the line, from 1 */
    bool ended;      /* whether the file has ended */
    char *word[WORDS_MAX];
    int words;
    struct fault *fault;
};

#define LINE "line %" PRIu64 ": "

/* ASCII only, because isspace() depends on the locale. */
static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* Cut the line into its words.  Words beyond WORDS_MAX are dropped. */
static void words_split(struct lines *l)
{
    char *s = l->text;
    for (l->words = 0; l->words < WORDS_MAX; l->words++) {
        while (is_blank(*s)) s++;
        if (!*s) return;
        l->word[l->words] = s;
        while (*s && !is_blank(*s)) s++;
        if (*s) *s++ = 0;
    }
}

/* Read the next line. */
static enum bitcut_status line_next(struct lines *l)
{
    size_t length = 0;
    int c;
    while ((c = getc_unlocked(l->stream.file)) != EOF && c != '\n') {
        if (c == 0 || length == LINE_LENGTH_MAX)
            return fault_set(l->fault, BITCUT_BAD_FILE, LINE "%s", l->number + 1,
                             c ? "longer than 2^16 characters" : "contains a zero byte");
        l->text[length++] = (char)c;
    }
    if (c == EOF && ferror(l->stream.file)) return stream_fault(&l->stream, l->fault);
    l->ended = c == EOF && length == 0;
    if (l->ended) return BITCUT_OK;
    l->text[length] = 0;
    l->number++;
    words_split(l);
    return BITCUT_OK;
}

/* Read the next line that is neither blank nor a comment. */
static enum bitcut_status content_next(struct lines *l)
{
    enum bitcut_status status;
    do {
        status = line_next(l);
    } while (!status && !l->ended && (l->words == 0 || l->word[0][0] == '%'));
    return status;
}

/* Read word `at` as a whole number from `least` to `most`. */
static enum bitcut_status number_read(size_t *number, const struct lines *l, int at,
                                      const char *what, size_t least, size_t most)
{
    size_t value = 0;
    const char *s = l->word[at];
    for (; *s >= '0' && *s <= '9'; s++) {
        const size_t digit = (size_t)(*s - '0');
        if (digit > most || value > (most - digit) / 10) break;
        value = 10 * value + digit;
    }
    if (*s || value < least)
        return fault_set(l->fault, BITCUT_BAD_FILE,
                         LINE "expected %s from %zu to %zu, found '%.*s'", l->number,
                         what, least, most, text_fit(l->word[at], WORD_QUOTED),
                         l->word[at]);
    *number = value;
    return BITCUT_OK;
}

/* --- the banner and the size ------------------------------------------------------ */

#define BANNER "%%MatrixMarket"

enum { OBJECT, FORMAT, FIELD, SYMMETRY, CHOICES };
enum { ARRAY, COORDINATE };
enum { REAL, INTEGER, PATTERN };
enum { GENERAL, SYMMETRIC, SKEW };

enum { NAMES_MAX = 3 };

/* The values that each word of the banner after the first may have. */
static const struct choice {
    const char *what;
    const char *name[NAMES_MAX];
} choices[CHOICES] = {
    [OBJECT] = { "object", { "matrix" } },
    [FORMAT] = { "format", { [ARRAY] = "array", [COORDINATE] = "coordinate" } },
    [FIELD] = { "field",
                { [REAL] = "real", [INTEGER] = "integer", [PATTERN] = "pattern" } },
    [SYMMETRY] = { "symmetry",
                   { [GENERAL] = "general", [SYMMETRIC] = "symmetric",
                     [SKEW] = "skew-symmetric" } },
};

/* The contents of the banner and the size line. */
struct layout {
    int choice[CHOICES];
    size_t rows, cols;
    size_t entries; /* number of entries in the file */
};

static const char *choice_name(const struct layout *y, int which)
{
    return choices[which].name[y->choice[which]];
}

static enum bitcut_status choice_unknown(const struct lines *l, const struct choice *c,
                                         const char *word)
{
    char names[80] = "";
    for (int i = 0; i < NAMES_MAX && c->name[i]; i++)
        text_add(names, sizeof names, "%s%s", i ? " " : "", c->name[i]);
    return fault_set(l->fault, BITCUT_BAD_FILE, LINE "unsupported %s '%.*s'; expected %s",
                     l->number, c->what, text_fit(word, WORD_QUOTED), word, names);
}

static enum bitcut_status choice_read(int *picked, const struct lines *l,
                                      const struct choice *c, const char *word)
{
    for (int i = 0; i < NAMES_MAX && c->name[i]; i++) {
        if (!text_same_word(word, c->name[i])) continue;
        *picked = i;
        return BITCUT_OK;
    }
    return choice_unknown(l, c, word);
}

static enum bitcut_status banner_read(struct layout *y, struct lines *l)
{
    enum bitcut_status status = line_next(l);
    if (status) return status;
    if (l->ended || l->words == 0 || !text_same_word(l->word[0], BANNER))
        return fault_set(l->fault, BITCUT_BAD_FILE,
                         "not a Matrix Market file: it does not start with %s", BANNER);
    if (l->words != 1 + CHOICES)
        return fault_set(l->fault, BITCUT_BAD_FILE,
                         LINE "expected %d words in the banner", l->number, 1 + CHOICES);
    for (int i = 0; i < CHOICES && !status; i++)
        status = choice_read(&y->choice[i], l, &choices[i], l->word[1 + i]);
    if (status) return status;
    if (y->choice[FIELD] == PATTERN &&
        (y->choice[FORMAT] == ARRAY || y->choice[SYMMETRY] == SKEW))
        return fault_set(l->fault, BITCUT_BAD_FILE,
                         LINE "a pattern requires coordinate format and no skew symmetry",
                         l->number);
    return BITCUT_OK;
}

/* The number of entries of an array file: column by column, only one triangle if the
   matrix is symmetric. */
static size_t array_entries(const struct layout *y)
{
    switch (y->choice[SYMMETRY]) {
    case SYMMETRIC: return y->rows * (y->rows + 1) / 2;
    case SKEW: return y->rows ? y->rows * (y->rows - 1) / 2 : 0;
    default: return y->rows * y->cols;
    }
}

/* The number of words on the line of an entry. */
static int entry_words(const struct layout *y)
{
    return (y->choice[FORMAT] == COORDINATE ? 2 : 0) + (y->choice[FIELD] != PATTERN);
}

/* Whether a dense matrix is allowed.  Its size is limited by the size of the file, so
   that a short file cannot ask for much more memory. */
static bool fits_densely(struct layout *y)
{
    const uint64_t most = UINT64_C(1) << 32, few = UINT64_C(1) << 28;
    const size_t rows = y->rows ? y->rows : 1, cols = y->cols ? y->cols : 1;
    size_t dense; /* a dimension of 0 counts as 1, because loops over the other one must
                     end                                                             */
    if (!size_multiply(&dense, rows, cols) || dense > most) return false;
    if (y->choice[FORMAT] == ARRAY) y->entries = array_entries(y);
    return dense <= few || dense / 16 <= y->entries;
}

/* Check the declared size against the memory and the size of the file. */
static enum bitcut_status size_check(struct layout *y, const struct lines *l)
{
    if (y->choice[SYMMETRY] != GENERAL && y->rows != y->cols)
        return fault_set(l->fault, BITCUT_BAD_FILE, LINE "a %s matrix must be square",
                         l->number, choice_name(y, SYMMETRY));
    if (!fits_densely(y))
        return fault_set(l->fault, BITCUT_BAD_FILE,
                         LINE "a matrix of %zu x %zu elements is too large", l->number,
                         y->rows, y->cols);
    const uint64_t least = 2 * (uint64_t)entry_words(y); /* bytes: each word has at least
                                                            one character and a blank */
    if (y->entries > l->stream.size / least)
        return fault_set(l->fault, BITCUT_BAD_FILE,
                         LINE "%zu entries do not fit in a file of %" PRIu64 " bytes",
                         l->number, y->entries, l->stream.size);
    return BITCUT_OK;
}

static enum bitcut_status size_read(struct layout *y, struct lines *l)
{
    static const char *const what[] = { "a number of rows", "a number of columns",
                                        "a number of entries" };
    size_t *const to[] = { &y->rows, &y->cols, &y->entries };
    const int wanted = y->choice[FORMAT] == COORDINATE ? 3 : 2;
    enum bitcut_status status = content_next(l);
    if (status) return status;
    if (l->ended) return fault_set(l->fault, BITCUT_BAD_FILE, "missing size line");
    if (l->words != wanted)
        return fault_set(l->fault, BITCUT_BAD_FILE,
                         LINE "the size line of the %s format must have %d numbers",
                         l->number, choice_name(y, FORMAT), wanted);
    for (int i = 0; i < wanted && !status; i++)
        status = number_read(to[i], l, i, what[i], 0, SIZE_MAX);
    return status ? status : size_check(y, l);
}

/* --- the entries ------------------------------------------------------------------ */

/* Go to the line of entry `done`, counted from 0. */
static enum bitcut_status entry_next(struct lines *l, const struct layout *y, size_t done)
{
    const enum bitcut_status status = content_next(l);
    if (status) return status;
    if (l->ended)
        return fault_set(l->fault, BITCUT_BAD_FILE, "the file ends after %zu of %zu "
                         "entries", done, y->entries);
    if (l->words != entry_words(y))
        return fault_set(l->fault, BITCUT_BAD_FILE,
                         LINE "expected %d numbers in an entry", l->number,
                         entry_words(y));
    return BITCUT_OK;
}

static bool is_integer(const char *s)
{
    s += *s == '-' || *s == '+';
    return *s && s[strspn(s, "0123456789")] == 0;
}

/* Read the value at the end of the line of an entry. */
static enum bitcut_status value_read(uint32_t *x, const struct lines *l,
                                     const struct layout *y)
{
    const bool integer = y->choice[FIELD] == INTEGER;
    const char *word = l->word[l->words - 1];
    if (y->choice[FIELD] == PATTERN) {
        *x = F32_ONE;
        return BITCUT_OK;
    }
    if ((!integer || is_integer(word)) && decimal_read(x, word)) return BITCUT_OK;
    return fault_set(l->fault, BITCUT_BAD_FILE, LINE "'%.*s' is not %s", l->number,
                     text_fit(word, WORD_QUOTED), word,
                     integer ? "an integer" : "a real number");
}

/* Set element (i, j) and, in a symmetric matrix, its mirror element. */
static void entry_store(struct matrix *m, const struct layout *y, size_t i, size_t j,
                        uint32_t x)
{
    const uint32_t sign = y->choice[SYMMETRY] == SKEW ? UINT32_C(1) << 31 : 0;
    m->at[i * m->cols + j] = x;
    if (y->choice[SYMMETRY] != GENERAL && i != j) m->at[j * m->cols + i] = x ^ sign;
}

/* The first row of column j that is in the file. */
static size_t first_row(const struct layout *y, size_t j)
{
    return y->choice[SYMMETRY] == GENERAL ? 0 : j + (y->choice[SYMMETRY] == SKEW);
}

static enum bitcut_status array_read(struct matrix *m, struct lines *l,
                                     const struct layout *y)
{
    size_t done = 0;
    for (size_t j = 0; j < y->cols && done < y->entries; j++) {
        for (size_t i = first_row(y, j); i < y->rows; i++) {
            uint32_t x;
            enum bitcut_status status = entry_next(l, y, done++);
            if (!status) status = value_read(&x, l, y);
            if (status) return status;
            entry_store(m, y, i, j, x);
        }
    }
    return BITCUT_OK;
}

/* Note that element `at` is stored, in a set with one bit for each element.  False if it
   was stored before. */
static bool seen_add(uint64_t *seen, size_t at)
{
    const uint64_t bit = UINT64_C(1) << at % 64;
    const bool new = !(seen[at / 64] & bit);
    seen[at / 64] |= bit;
    return new;
}

/* Read one coordinate entry, whose line has been read already. */
static enum bitcut_status coordinate_read(struct matrix *m, uint64_t *seen,
                                          const struct lines *l, const struct layout *y)
{
    size_t i, j;
    uint32_t x;
    enum bitcut_status status = number_read(&i, l, 0, "a row", 1, y->rows);
    if (!status) status = number_read(&j, l, 1, "a column", 1, y->cols);
    if (!status) status = value_read(&x, l, y);
    if (status) return status;
    i--;
    j--;
    if (i < first_row(y, j))
        return fault_set(l->fault, BITCUT_BAD_FILE,
                         LINE "row %zu column %zu is outside the triangle that "
                         "a %s matrix stores",
                         l->number, i + 1, j + 1, choice_name(y, SYMMETRY));
    if (!seen_add(seen, i * y->cols + j))
        return fault_set(l->fault, BITCUT_BAD_FILE, LINE "row %zu column %zu occurs "
                         "twice", l->number, i + 1, j + 1);
    entry_store(m, y, i, j, x);
    return BITCUT_OK;
}

static enum bitcut_status coordinates_read(struct matrix *m, struct lines *l,
                                           const struct layout *y)
{
    uint64_t *seen = calloc(m->rows * m->cols / 64 + 1, sizeof *seen);
    if (!seen) return fault_set(l->fault, BITCUT_NO_MEMORY, "not enough memory");
    enum bitcut_status status = BITCUT_OK;
    for (size_t k = 0; k < y->entries && !status; k++) {
        status = entry_next(l, y, k);
        if (!status) status = coordinate_read(m, seen, l, y);
    }
    free(seen);
    return status;
}

/* A matrix of +0.  Its pages are not touched until an element is stored in them. */
static enum bitcut_status zeros_init(struct matrix *m, size_t rows, size_t cols,
                                     struct fault *f)
{
    const size_t count = rows * cols;
    uint32_t *at = calloc(count ? count : 1, sizeof *at);
    if (!at)
        return fault_set(f, BITCUT_NO_MEMORY, "not enough memory for %zu x %zu elements",
                         rows, cols);
    *m = (struct matrix){ .rows = rows, .cols = cols, .at = at };
    return BITCUT_OK;
}

static enum bitcut_status end_check(struct lines *l, const struct layout *y)
{
    const enum bitcut_status status = content_next(l);
    if (status || l->ended) return status;
    return fault_set(l->fault, BITCUT_BAD_FILE,
                     LINE "more than the %zu entries of the size line", l->number,
                     y->entries);
}

static enum bitcut_status matrix_read(struct matrix *m, struct lines *l)
{
    struct layout y;
    struct matrix new;
    enum bitcut_status status = banner_read(&y, l);
    if (!status) status = size_read(&y, l);
    if (!status) status = zeros_init(&new, y.rows, y.cols, l->fault);
    if (status) return status;
    status = (y.choice[FORMAT] == ARRAY ? array_read : coordinates_read)(&new, l, &y);
    if (!status) status = end_check(l, &y);
    if (status) matrix_clear(&new);
    else *m = new;
    return status;
}

/* --- the public functions --------------------------------------------------------- */

enum bitcut_status mtx_read_stream(struct matrix *m, struct stream *s, struct fault *f)
{
    struct lines *const l = calloc(1, sizeof *l); /* too large for a thread's stack */
    enum bitcut_status status = BITCUT_NO_MEMORY;
    if (l) {
        l->stream = *s;
        l->fault = f;
        status = matrix_read(m, l);
    } else fault_set(f, status, "not enough memory");
    free(l);
    return status;
}

/* Read the stream and close it. */
static enum bitcut_status stream_matrix(struct matrix *m, struct stream s,
                                        struct fault *f)
{
    const enum bitcut_status status = mtx_read_stream(m, &s, f);
    stream_close(&s);
    return status;
}

enum bitcut_status mtx_read(struct matrix *m, const char *path, struct fault *f)
{
    struct stream s;
    const enum bitcut_status status = stream_open(&s, path, f);
    return status ? status : stream_matrix(m, s, f);
}

enum bitcut_status mtx_read_memory(struct matrix *m, const void *bytes, size_t size,
                                   struct fault *f)
{
    struct stream s;
    const enum bitcut_status status = stream_open_memory(&s, bytes, size, f);
    return status ? status : stream_matrix(m, s, f);
}

enum bitcut_status mtx_write(const char *path, const struct matrix *m, struct fault *f)
{
    struct output o;
    const enum bitcut_status status = output_open(&o, path, f);
    if (status) return status;
    fprintf(o.file, "%s matrix array real general\n%zu %zu\n", BANNER, m->rows, m->cols);
    for (size_t k = 0; k < m->rows * m->cols; k++) {
        char text[DECIMAL_MAX];
        decimal_write(text, m->at[k % m->rows * m->cols + k / m->rows]);
        fprintf(o.file, "%s\n", text); /* output_commit() reports failures */
    }
    return output_commit(&o, f);
}
