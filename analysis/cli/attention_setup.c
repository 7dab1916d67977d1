/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/attention_setup.h"

#include "emu/attention/attention_row.h"
#include "lib/base/size.h"
#include "lib/input/source.h"

/* --- matrices --------------------------------------------------------------------- */

int attention_format(const struct bitcut_format **to, const char *option,
                     const char *name)
{
    if (!name) return EXIT_GOOD;
    *to = bitcut_format_find(name);
    return *to ? EXIT_GOOD : fail_unknown(option, name, TABLE(formats));
}

static int read_file(struct encoded_matrix *m, const char *path,
                     const struct bitcut_format *format, const char *option)
{
    struct fault f;
    const struct matrix_request r = { .format = format,
                                      .format_option = option,
                                      .shape_option = "--queries",
                                      .batch = true };
    return matrix_file_read(m, path, &r, &f) == BITCUT_OK ? EXIT_GOOD : fail(path, &f);
}

/* Generate a matrix of all heads, rounded to the format. */
static int generate(struct encoded_matrix *to, const struct input *in,
                    enum input_role role, uint64_t seed, const size_t size[3],
                    const struct bitcut_format *format, const struct context *x)
{
    struct matrix m;
    struct fault f;
    size_t changed, rows;
    if (!size_multiply(&rows, size[0], size[1]))
        return complain("--heads", "is too large for these sizes");
    enum bitcut_status status =
        source_generate(&m, in, role, rows, size[2], seed, x->threads, &f);
    if (status != BITCUT_OK) return fail("--input", &f);
    status = encoded_init_batch(to, size[0], size[1], size[2], format, &f);
    if (status == BITCUT_OK)
        status =
            bitcut_format_convert_array(&changed, to->at, format, &roundings[ROUND_RN],
                                        m.at, &formats[FORMAT_F32], rows * size[2]);
    matrix_clear(&m);
    return status == BITCUT_OK ? EXIT_GOOD : fail("--input", &f);
}

int attention_generate(struct encoded_matrix to[V + 1], const struct attention_setup *s,
                       const struct bitcut_format *format, const struct context *x)
{
    const struct attention_setup_options *const o = s->o;
    const size_t kv = o->kv_heads ? o->kv_heads : o->heads,
                 dim = o->value_dim ? o->value_dim : o->head_dim;
    const size_t size[][3] = { [Q] = { o->heads, o->queries, o->head_dim },
                               [K] = { kv, o->keys, o->head_dim },
                               [V] = { kv, o->keys, dim } };
    struct input in;
    struct fault f;
    int status = input_parse(&in, o->input, &f) == BITCUT_OK
                     ? EXIT_GOOD
                     : fail_input("--input", "inputs", &f);
    if (!format) format = &formats[FORMAT_F16];
    for (int i = Q; i <= V && status == EXIT_GOOD; i++)
        status = generate(&to[i], &in, i == K ? INPUT_B : INPUT_A, x->seed + (i == V),
                          size[i], format, x);
    return status;
}

static size_t count_of(const struct encoded_matrix *m)
{
    return m->is_batch ? m->count : 1;
}

/* Files that fit each other. */
static int check_shapes(const struct attention_setup *s)
{
    const struct encoded_matrix *const m = s->of;
    if (m[K].cols != m[Q].cols) return complain("-k", "must have as many columns as Q");
    if (m[V].rows != m[K].rows || count_of(&m[V]) != count_of(&m[K]))
        return complain("-v", "must have as many heads and rows as K");
    if (!count_of(&m[K]) || count_of(&m[Q]) % count_of(&m[K]))
        return complain("-q", "must have a multiple of the heads of K");
    if (m[K].format != m[Q].format) return complain("-k", "must have the format of Q");
    return EXIT_GOOD;
}

static int take_matrices(struct attention_setup *s, const struct context *x)
{
    static const char *const names[] = { "-q", "-k", "-v" };
    const struct attention_setup_options *const o = s->o;
    const struct bitcut_format *format = NULL;
    int given = 0, status = attention_format(&format, "--format", o->format);
    for (int i = Q; i <= V; i++) given += o->path[i] != NULL;
    if (status != EXIT_GOOD) return status;
    if (!given) return attention_generate(s->of, s, format, x);
    for (int i = Q; i <= V && status == EXIT_GOOD; i++)
        status = o->path[i]
                     ? read_file(&s->of[i], o->path[i], format, "--format")
                     : complain(names[i], "is missing; -q, -k and -v belong together");
    return status == EXIT_GOOD ? check_shapes(s) : status;
}

/* O: from its file, or memory for it. */
static int take_output(struct attention_setup *s)
{
    const struct attention_setup_options *const o = s->o;
    const struct encoded_matrix *const q = &s->of[Q];
    const struct bitcut_format *format =
        q->format->bits < 16 ? &formats[FORMAT_BF16] : q->format;
    struct encoded_matrix *const m = &s->of[O];
    struct fault f;
    int status = attention_format(&format, "--format-o", o->format_o);
    const char *const path = o->explain ? o->explain : o->path[O];
    if (status == EXIT_GOOD && path) {
        status = read_file(m, path, format, "--format-o");
        if (status == EXIT_GOOD && (count_of(m) != count_of(q) || m->rows != q->rows ||
                                    m->cols != s->of[V].cols))
            return complain(o->explain ? "--explain" : "--verify",
                            "must have the heads and rows of Q and the columns "
                            "of V");
        return status;
    }
    if (status != EXIT_GOOD) return status;
    const enum bitcut_status made =
        q->is_batch ? encoded_init_batch(m, q->count, q->rows, s->of[V].cols, format, &f)
                    : encoded_init(m, q->rows, s->of[V].cols, format, &f);
    return made == BITCUT_OK ? EXIT_GOOD : fail("attention", &f);
}

struct bitcut_matrix attention_heads(const struct encoded_matrix *m)
{
    return (struct bitcut_matrix){ .at = m->at,
                                   .format = m->format,
                                   .stride = m->rows * m->cols };
}

static void set_attention(struct attention_setup *s)
{
    const struct attention_setup_options *const o = s->o;
    struct bitcut_attention *const a = &s->a;
    a->vary = o->vary;
    a->heads = count_of(&s->of[Q]);
    a->kv_heads = count_of(&s->of[K]);
    a->queries = s->of[Q].rows;
    a->keys = s->of[K].rows;
    a->head_dim = s->of[Q].cols;
    a->value_dim = s->of[V].cols;
    a->window_left = o->window_left;
    a->window_right = o->causal ? 0 : o->window_right;
    a->scale = o->scale;
    a->q = attention_heads(&s->of[Q]);
    a->k = attention_heads(&s->of[K]);
    a->v = attention_heads(&s->of[V]);
    a->o = attention_heads(&s->of[O]);
}

/* --- all of them ------------------------------------------------------------------ */

int attention_check_mask(const struct attention_setup_options *o)
{
    if (o->causal && o->window_right != BITCUT_UNSET)
        return complain("--causal", "cannot be combined with --window-right");
    if (o->window_left < BITCUT_UNSET || o->window_right < BITCUT_UNSET)
        return complain("--window-left, --window-right", "must be at least 0");
    return EXIT_GOOD;
}

int attention_setup_make(struct attention_setup *s, const struct context *x)
{
    bitcut_attention_init(&s->a, sizeof s->a);
    s->a.row = bitcut_attention_find(s->o->row);
    if (!s->a.row && s->o->row)
        return fail_unknown("--row", s->o->row, TABLE(attention_rows));
    int status = take_matrices(s, x);
    if (status == EXIT_GOOD) status = take_output(s);
    if (status == EXIT_GOOD) set_attention(s);
    return status;
}

void attention_setup_free(struct attention_setup *s)
{
    for (int i = 0; i < FILES; i++) encoded_clear(&s->of[i]);
    for (int i = Q; i <= V; i++) encoded_clear(&s->other[i]);
}
