/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/evidence/paste.h"

#include "lib/base/text.h"
#include "lib/io/sha256.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct table_row paste_operations[] = {
    { "mm", "matrix product" },
    { "linear", "product with a bias of columns" },
    { "scaled", "product of fp8 or fp4 operands" },
    { "sdpa", "attention; no unit alone gives it" },
    { 0 },
};

const struct table_row paste_inputs[] = {
    { "terms", "exponents in spans from narrow to wide; products that cancel" },
    { "tiny", "the same near the smallest numbers" },
    { "edge", "the same with infinities and zeros" },
    { "ties", "the same with operands halfway between two of tf32 or bf16" },
    { "flat", "exponents in one range" },
    { 0 },
};

#define BEGIN  "settle:"
#define SUM    "sum="
#define DIGITS 8 /* of a checksum and of a digest */

size_t paste_side(size_t size, size_t k)
{
    if (size <= 16 || (size <= PASTE_SIDE_MAX && k <= PASTE_SHORT_MAX)) return size;
    return 16;
}

size_t paste_side_at(size_t i, size_t size, size_t k)
{
    const size_t side = paste_side(size, k);
    return side == size ? i : i * (size / 16);
}

/* --- words ------------------------------------------------------------------------ */

/* The text that is being read.  `record` has the words of the record so far, with one
   blank between them. */
struct reader {
    const char *at, *end;
    bool line_start;
    char word[PASTE_WORD_MAX], record[2048];
    struct fault *f;
};

enum { WORD_NONE, WORD_FITS, WORD_LONG };

static bool is_blank(const struct reader *r)
{
    const unsigned char c = (unsigned char)*r->at;
    return c <= ' ' ||
           (c == 0xc2 && r->at + 1 < r->end && (unsigned char)r->at[1] == 0xa0);
}

static void skip_blanks(struct reader *r)
{
    for (; r->at < r->end; r->at++) {
        if (*r->at == '\n' || *r->at == '\r') r->line_start = true;
        else if (r->line_start && (*r->at == '>' || *r->at == '|')) continue;
        else if (!is_blank(r)) return;
        else if ((unsigned char)*r->at == 0xc2) r->at++;
    }
}

/* The next word, or WORD_NONE at the end. */
static int next_word(struct reader *r)
{
    size_t length = 0;
    skip_blanks(r);
    r->line_start = false;
    for (; r->at < r->end && !is_blank(r); r->at++)
        if (length < PASTE_WORD_MAX) r->word[length++] = *r->at;
    if (length == PASTE_WORD_MAX) return r->word[PASTE_WORD_MAX - 1] = 0, WORD_LONG;
    r->word[length] = 0;
    return length ? WORD_FITS : WORD_NONE;
}

static bool starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

static enum bitcut_status bad(const struct reader *r, const char *why)
{
    return fault_set(r->f, BITCUT_BAD_FILE, "%.*s: %s", (int)strcspn(r->record, " "),
                     r->record, why);
}

static bool is_printable(const char *word)
{
    while (*word > ' ' && *word < 0x7f) word++;
    return !*word;
}

/* Whether the word is the checksum of the record so far. */
static bool checksum_agrees(const struct reader *r)
{
    char digest[SHA256_TEXT];
    sha256_of(digest, r->record, strlen(r->record));
    digest[DIGITS] = 0;
    return !strcmp(r->word + strlen(SUM), digest);
}

/* The words of the record that begins with the current word, up to its checksum. */
static enum bitcut_status read_record(struct reader *r)
{
    snprintf(r->record, sizeof r->record, "%s", r->word);
    for (;;) {
        const int word = next_word(r);
        if (word == WORD_NONE || (word == WORD_FITS && starts_with(r->word, BEGIN)))
            return bad(r, "its end is missing");
        if (word == WORD_LONG || !is_printable(r->word))
            return bad(r, "a word is no word of a paste");
        if (starts_with(r->word, SUM)) break;
        if (strlen(r->record) + strlen(r->word) + 2 > sizeof r->record)
            return bad(r, "the line is too long");
        text_add(r->record, sizeof r->record, " %s", r->word);
    }
    return checksum_agrees(r) ? BITCUT_OK
                              : bad(r, "its checksum differs: a character was changed");
}

/* Read the next record; at the end of the text the record is empty. */
static enum bitcut_status next_record(struct reader *r)
{
    int word;
    *r->record = 0;
    while ((word = next_word(r)) != WORD_NONE)
        if (word == WORD_FITS && starts_with(r->word, BEGIN) && is_printable(r->word))
            return read_record(r);
    return BITCUT_OK;
}

/* --- values ----------------------------------------------------------------------- */

/* A number of at most `most`, in decimal without a sign, or in hexadecimal digits of
   which there are `digits`. */
static bool read_count(size_t *to, const char *text, size_t most)
{
    size_t value = 0;
    if (!*text || (*text == '0' && text[1])) return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        value = 10 * value + (size_t)(*text - '0');
        if (value > most) return false;
    }
    return *to = value, true;
}

static bool read_hex(uint64_t *to, const char *text, size_t digits)
{
    uint64_t value = 0;
    if (strlen(text) != digits || digits > 16) return false;
    for (; *text; text++) {
        const char *const all = "0123456789abcdef", *const at = strchr(all, *text);
        if (!at) return false;
        value = value << 4 | (uint64_t)(at - all);
    }
    return *to = value, true;
}

enum { RANGE_LIMIT = 4096 };

/* Six integers with colons between them. */
static bool read_ranges(int range[PASTE_RANGES], const char *text)
{
    for (int i = 0; i < PASTE_RANGES; i++) {
        char part[PASTE_WORD_MAX];
        const size_t length = strcspn(text, ":");
        const bool negative = *text == '-';
        size_t value;
        snprintf(part, sizeof part, "%.*s", (int)length, text);
        if (!read_count(&value, part + negative, RANGE_LIMIT)) return false;
        range[i] = negative ? -(int)value : (int)value;
        text += length;
        if (*text != (i + 1 < PASTE_RANGES ? ':' : 0)) return false;
        text += *text == ':';
    }
    return true;
}

static bool read_scale(struct paste_line *x, const char *text)
{
    char name[PASTE_WORD_MAX], block[PASTE_WORD_MAX];
    const size_t first = strcspn(text, ":");
    snprintf(name, sizeof name, "%.*s", (int)first, text);
    if (text[first] != ':') return false;
    text += first + 1;
    const size_t second = strcspn(text, ":");
    snprintf(block, sizeof block, "%.*s", (int)second, text);
    x->scale = bitcut_format_find(name);
    return text[second] == ':' && x->scale &&
           read_count(&x->scale_block, block, PASTE_SHORT_MAX) && x->scale_block &&
           read_count(&x->scale_max, text + second + 1, 100);
}

static bool read_name(int *to, const struct table_row *rows, const char *text)
{
    const struct table_row *r = rows;
    while (r->name && strcmp(r->name, text)) r++;
    *to = (int)(r - rows);
    return r->name != NULL;
}

/* --- keys of a line --------------------------------------------------------------- */

enum kind { FORMAT, COUNT, OPERATION, INPUTS, RANGES, SCALE, DIGEST, WORD, TEXT };

enum { NEEDED = 1, RESULT = 2 };

static const struct key {
    const char *name;
    enum kind kind;
    size_t offset, most; /* most: of a count */
    int needed;          /* NEEDED: in each line; RESULT: in each line that ran */
} keys[] = {
/* clang-format off */
#define AT(member) offsetof(struct paste_line, member)
    { "op",     OPERATION, AT(op),     0,                 NEEDED },
    { "a",      FORMAT,    AT(a),      0,                 NEEDED },
    { "b",      FORMAT,    AT(b),      0,                 NEEDED },
    { "d",      FORMAT,    AT(d),      0,                 NEEDED },
    { "m",      COUNT,     AT(m),      1 << 16,           NEEDED },
    { "n",      COUNT,     AT(n),      1 << 16,           NEEDED },
    { "k",      COUNT,     AT(k),      1 << 14,           NEEDED },
    { "inputs", INPUTS,    AT(inputs), 0,                 NEEDED },
    { "seed",   COUNT,     AT(seed),   4095,              NEEDED },
    { "e",      RANGES,    AT(range),  0,                 NEEDED },
    { "acc",    FORMAT,    AT(acc),    0,                 0      },
    { "math",   FORMAT,    AT(math),   0,                 0      },
    { "fast",   COUNT,     AT(fast),   1,                 0      },
    { "scale",  SCALE,     0,          0,                 0      },
    { "no",     TEXT,      AT(missing), 0,                0      },
#define GROUP(i) { "g" #i, DIGEST, AT(digest[i]), 0, RESULT }
    GROUP(0), GROUP(1), GROUP(2), GROUP(3), GROUP(4), GROUP(5), GROUP(6), GROUP(7),
#define RESULT_OF(i) { "w" #i, WORD, AT(word[i]), 0, RESULT }
    RESULT_OF(0), RESULT_OF(1), RESULT_OF(2), RESULT_OF(3),
    RESULT_OF(4), RESULT_OF(5), RESULT_OF(6), RESULT_OF(7),
    { "rms",    TEXT,      AT(rms),    0,                 0      },
    { "max",    TEXT,      AT(max),    0,                 0      },
    { 0 }
    /* clang-format on */
};

static bool read_value(struct paste_line *x, const struct key *key, const char *text)
{
    void *const at = (char *)x + key->offset;
    const struct bitcut_format *format;
    uint64_t bits;
    switch (key->kind) {
    case FORMAT:
        format = bitcut_format_find(text);
        return memcpy(at, &format, sizeof format), format != NULL;
    case COUNT: return read_count(at, text, key->most);
    case OPERATION: return read_name(at, paste_operations, text);
    case INPUTS: return read_name(at, paste_inputs, text);
    case RANGES: return read_ranges(at, text);
    case SCALE: return read_scale(x, text);
    case DIGEST:
        if (!read_hex(&bits, text, DIGITS)) return false;
        *(uint32_t *)at = (uint32_t)bits;
        return true;
    case WORD: return x->d && read_hex(at, text, (size_t)x->d->bits / 4);
    case TEXT: return snprintf(at, PASTE_WORD_MAX, "%s", text) > 0;
    }
    return false;
}

/* The next word of a record, which begins at *at; an empty one at its end. */
static void split_word(char word[PASTE_WORD_MAX], const char **at)
{
    const size_t length = strcspn(*at, " ");
    snprintf(word, PASTE_WORD_MAX, "%.*s", (int)length, *at);
    *at += length + ((*at)[length] == ' ');
}

static const struct key *find_key(const char *word)
{
    const size_t length = strcspn(word, "=");
    const struct key *key = keys;
    while (key->name && (strlen(key->name) != length || strncmp(key->name, word, length)))
        key++;
    return key->name && word[length] == '=' ? key : NULL;
}

/* Whether the line has all keys that it needs; `given`: a bit for each key. */
static bool has_keys(const struct paste_line *x, uint64_t given)
{
    for (const struct key *key = keys; key->name; key++) {
        const bool has = given >> (key - keys) & 1;
        if (key->needed == NEEDED && !has) return false;
        if (key->needed == RESULT && has != x->ran) return false;
    }
    return true;
}

static enum bitcut_status read_keys(struct paste_line *x, struct reader *r)
{
    const char *at = r->record;
    char word[PASTE_WORD_MAX];
    uint64_t given = 0;
    for (split_word(word, &at); *at;) {
        split_word(word, &at);
        const struct key *const key = find_key(word);
        if (!key || given >> (key - keys) & 1 ||
            !read_value(x, key, strchr(word, '=') + 1))
            return fault_set(r->f, BITCUT_BAD_FILE, "settle:%zu: %.40s is unknown here",
                             x->number, word);
        given |= (uint64_t)1 << (key - keys);
    }
    x->ran = !*x->missing;
    return has_keys(x, given) ? BITCUT_OK : bad(r, "a part of the line is missing");
}

/* --- checks ----------------------------------------------------------------------- */

/* Whether normal numbers of a format have these exponents, and no other meaning. */
static bool holds_exponents(const struct bitcut_format *x, int least, int most)
{
    const int all = (1 << x->exponent_bits) - 1;
    const bool reserved = x->special == SPECIAL_IEEE || x->special == SPECIAL_FN;
    return x->has_sign && x->special != SPECIAL_INTEGER && x->special != SPECIAL_E8M0 &&
           least <= most && least + x->bias >= 1 && most + x->bias <= all - reserved;
}

static bool inputs_fit(const struct paste_line *x)
{
    const int *const e = x->range;
    const bool flat = x->inputs == PASTE_FLAT;
    if (x->a == &formats[FORMAT_S8])
        return flat && x->b == x->a && e[0] >= -128 && e[0] <= e[1] && e[1] <= 127 &&
               e[2] >= -128 && e[2] <= e[3] && e[3] <= 127;
    if (!holds_exponents(x->a, e[0], e[1]) || !holds_exponents(x->b, e[2], e[3]))
        return false;
    if (flat) return true;
    return e[3] - e[2] <= e[1] - e[0] && e[RANGE_SPAN] >= 0 && paste_is_short(x) &&
           !(x->k & (x->k - 1)) &&
           (x->inputs != PASTE_EDGE || x->a->special == SPECIAL_IEEE) &&
           (x->inputs != PASTE_TIES || x->a->fraction_bits >= 23);
}

static bool scale_fits(const struct paste_line *x)
{
    const int most = (int)x->scale_max;
    if (!x->scale) return true;
    if (!paste_is_short(x) || x->k % x->scale_block) return false;
    if (x->scale == &formats[FORMAT_UE8M0]) return true;
    return x->scale == &formats[FORMAT_UE4M3] && most < 7;
}

/* The work of one hypothesis on the line, in products. */
static size_t work(const struct paste_line *x)
{
    return paste_side(x->m, x->k) * paste_side(x->n, x->k) * x->k;
}

static bool result_fits(const struct paste_line *x)
{
    const bool integers = x->a == &formats[FORMAT_S8];
    const struct bitcut_format *const d = x->d;
    return integers ? d == &formats[FORMAT_S32]
                    : d == &formats[FORMAT_F64] || d == &formats[FORMAT_F32] ||
                          d == &formats[FORMAT_F16] || d == &formats[FORMAT_BF16];
}

static enum bitcut_status check_line(const struct paste_line *x, const struct reader *r)
{
    if (!x->m || !x->n || x->k < 2) return bad(r, "a size is too small");
    if (!result_fits(x)) return bad(r, "D has no such format");
    if (!inputs_fit(x))
        return bad(r, "the ranges of the inputs do not fit their formats");
    if (!scale_fits(x)) return bad(r, "the block scales do not fit");
    return BITCUT_OK;
}

/* --- the paste -------------------------------------------------------------------- */

/* The value of `key` in the record, or an empty text. */
static void look_up(char to[PASTE_WORD_MAX], const char *record, const char *key)
{
    char word[PASTE_WORD_MAX];
    *to = 0;
    while (*record) {
        split_word(word, &record);
        if (starts_with(word, key) && word[strlen(key)] == '=')
            snprintf(to, PASTE_WORD_MAX, "%s", word + strlen(key) + 1);
    }
}

static enum bitcut_status read_begin(struct paste *p, struct reader *r)
{
    char version[PASTE_WORD_MAX], count[PASTE_WORD_MAX];
    enum bitcut_status status = next_record(r);
    if (status != BITCUT_OK) return status;
    if (!starts_with(r->record, BEGIN "begin "))
        return fault_set(r->f, BITCUT_BAD_FILE,
                         "settle:begin: the first line is missing");
    look_up(version, r->record, "version");
    look_up(count, r->record, "count");
    if (strcmp(version, "1")) return bad(r, "expected version=1");
    if (!read_count(&p->count, count, PASTE_LINES_MAX) || !p->count)
        return bad(r, "the number of lines is invalid");
    look_up(p->device, r->record, "device");
    look_up(p->name, r->record, "name");
    look_up(p->arch, r->record, "arch");
    look_up(p->machine, r->record, "machine");
    look_up(p->torch, r->record, "torch");
    look_up(p->runtime, r->record, "cuda");
    if (!*p->runtime) look_up(p->runtime, r->record, "hip");
    return BITCUT_OK;
}

/* Read the record that begins with settle:NAME; any other is not expected. */
static enum bitcut_status expect(struct reader *r, const char *name)
{
    const enum bitcut_status status = next_record(r);
    if (status != BITCUT_OK) return status;
    const size_t length = strlen(BEGIN) + strlen(name);
    if (starts_with(r->record, BEGIN) && starts_with(r->record + strlen(BEGIN), name) &&
        r->record[length] == ' ')
        return BITCUT_OK;
    return fault_set(r->f, BITCUT_BAD_FILE, "settle:%s: the line is missing", name);
}

enum { WORK_MAX = 1 << 26 };

static enum bitcut_status read_lines(struct paste *p, struct reader *r)
{
    enum bitcut_status status = BITCUT_OK;
    size_t total = 0;
    for (size_t i = 0; i < p->count && status == BITCUT_OK; i++) {
        struct paste_line *const x = &p->at[i];
        char name[24];
        snprintf(name, sizeof name, "%zu", x->number = i + 1);
        x->fast = 1;
        status = expect(r, name);
        if (status == BITCUT_OK) status = read_keys(x, r);
        if (status == BITCUT_OK) status = check_line(x, r);
        if (status == BITCUT_OK && (total += work(x)) > WORK_MAX)
            status = bad(r, "the matrices are too large");
    }
    return status == BITCUT_OK ? expect(r, "end") : status;
}

enum bitcut_status paste_read(struct paste *p, const char *bytes, size_t size,
                              struct fault *f)
{
    struct reader r = { .at = bytes, .end = bytes + size, .line_start = true, .f = f };
    struct paste x = { .at = NULL };
    if (size > PASTE_BYTES_MAX)
        return fault_set(f, BITCUT_BAD_FILE, "a paste has at most %d bytes",
                         PASTE_BYTES_MAX);
    enum bitcut_status status = read_begin(&x, &r);
    if (status != BITCUT_OK) return status;
    x.at = calloc(x.count, sizeof *x.at);
    if (!x.at) return fault_set(f, BITCUT_NO_MEMORY, "not enough memory");
    status = read_lines(&x, &r);
    if (status == BITCUT_OK) *p = x;
    else free(x.at);
    return status;
}

void paste_clear(struct paste *p)
{
    free(p->at);
    p->at = NULL;
    p->count = 0;
}

bool paste_is(const char *bytes, size_t size)
{
    const size_t length = strlen(BEGIN);
    for (size_t i = 0; i + length < size; i++)
        if (!memcmp(bytes + i, BEGIN, length) &&
            (bytes[i + length] == 'b' || isdigit((unsigned char)bytes[i + length])))
            return true;
    return false;
}

/* --- writing ---------------------------------------------------------------------- */

static void write_value(char *text, size_t size, const struct paste_line *x,
                        const struct key *key)
{
    const void *const at = (const char *)x + key->offset;
    const struct bitcut_format *format;
    switch (key->kind) {
    case FORMAT:
        memcpy(&format, at, sizeof format);
        text_add(text, size, "%s", format->name);
        break;
    case COUNT: text_add(text, size, "%zu", *(const size_t *)at); break;
    case OPERATION: text_add(text, size, "%s", paste_operations[x->op].name); break;
    case INPUTS: text_add(text, size, "%s", paste_inputs[x->inputs].name); break;
    case RANGES:
        for (int i = 0; i < PASTE_RANGES; i++)
            text_add(text, size, i ? ":%d" : "%d", x->range[i]);
        break;
    case SCALE:
        text_add(text, size, "%s:%zu:%zu", x->scale->name, x->scale_block, x->scale_max);
        break;
    case DIGEST: text_add(text, size, "%08" PRIx32, *(const uint32_t *)at); break;
    case WORD:
        text_add(text, size, "%0*" PRIx64, x->d->bits / 4, *(const uint64_t *)at);
        break;
    case TEXT: text_add(text, size, "%s", (const char *)at); break;
    }
}

/* Whether a line has the key. */
static bool is_written(const struct paste_line *x, const struct key *key)
{
    const char *const at = (const char *)x + key->offset;
    const struct bitcut_format *format;
    if (key->needed == RESULT) return x->ran;
    if (key->needed) return true;
    if (key->kind == SCALE) return x->scale != NULL;
    if (key->kind == COUNT) return x->op == PASTE_SCALED && !x->scale;
    if (key->kind == TEXT) return *at != 0;
    memcpy(&format, at, sizeof format);
    return format != NULL;
}

void paste_write(char *text, size_t size, const struct paste_line *x)
{
    char digest[SHA256_TEXT];
    *text = 0;
    text_add(text, size, BEGIN "%zu", x->number);
    for (const struct key *key = keys; key->name; key++) {
        if (!is_written(x, key)) continue;
        text_add(text, size, " %s=", key->name);
        write_value(text, size, x, key);
    }
    sha256_of(digest, text, strlen(text));
    text_add(text, size, " " SUM "%.*s", DIGITS, digest);
}
