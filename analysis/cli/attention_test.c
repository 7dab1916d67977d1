/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/cli/attention_test.h"

#include "analysis/sampling/attention_tolerance.h"
#include "emu/attention/attention_row.h"
#include "lib/io/json_record.h"
#include "lib/number/bits.h"

/* The attention of --other. */
static int set_other(struct bitcut_attention *to, struct attention_setup *s,
                     const struct context *x)
{
    const struct attention_command_options *const o = x->own;
    const struct bitcut_format *format = NULL;
    *to = s->a;
    to->row = bitcut_attention_find(o->other);
    to->vary = o->other_vary;
    if (!to->row) return fail_unknown("--other", o->other, TABLE(attention_rows));
    int status = attention_format(&format, "--other-format", o->other_format);
    if (status != EXIT_GOOD || !format) return status;
    status = attention_generate(s->other, s, format, x);
    to->q = attention_heads(&s->other[Q]);
    to->k = attention_heads(&s->other[K]);
    to->v = attention_heads(&s->other[V]);
    return status;
}

/* The O of --verify, by the limits.  Another attention's O is computed. */
static int judge_given(struct attention_tolerance_answer *to,
                       const struct attention_setup *s, struct bitcut_attention *other,
                       const struct context *x)
{
    struct encoded_matrix o;
    struct fault f;
    char why[BITCUT_TEXT_MAX];
    to->verdict.size = sizeof to->verdict;
    enum bitcut_status status =
        other ? encoded_init_batch(&o, s->a.heads, s->a.queries, s->a.value_dim,
                                   s->a.o.format, &f)
              : BITCUT_OK;
    if (status != BITCUT_OK) return fail("--verify", &f);
    if (other) {
        other->o = attention_heads(&o);
        status = bitcut_attention(other, x->threads, why);
    }
    if (status != BITCUT_OK) fault_set(&f, status, "%s", why);
    else
        status = attention_tolerance_judge(&to->verdict, &to->limits, &s->a, other,
                                           x->threads, &x->progress, &f);
    if (other) encoded_clear(&o);
    to->judged = status == BITCUT_OK;
    return to->judged ? EXIT_GOOD : fail("--verify", &f);
}

int attention_test_run(struct context *x, struct attention_setup *s)
{
    const struct attention_command_options *const o = x->own;
    const struct bitcut_attention_options how = { .size = sizeof how,
                                                  .runs = o->runs,
                                                  .false_alarm = value_of_float(o->alarm),
                                                  .seed = x->seed,
                                                  .any_tiles = o->setup.any_tiles };
    struct bitcut_attention other;
    struct bitcut_attention *const b = o->other ? &other : NULL;
    struct attention_tolerance_answer to = { .row = s->a.row->name,
                                             .format_o = s->of[O].format,
                                             .limits = { .size = sizeof to.limits } };
    struct fault f;
    int result = b ? set_other(b, s, x) : EXIT_GOOD;
    if (result != EXIT_GOOD) return result;
    to.other = b ? b->row->name : NULL;
    enum bitcut_status status =
        attention_tolerance(&to.limits, &s->a, b, &how, x->threads, &x->progress, &f);
    if (status == BITCUT_OK && o->power)
        status = attention_power(to.power, &to.powers, &to.limits, &s->a, b, &how,
                                 o->power, x->threads, &x->progress, &f);
    if (status != BITCUT_OK) return fail_about("--tolerance", &f);
    if (o->setup.path[O]) result = judge_given(&to, s, b, x);
    if (result != EXIT_GOOD) return result;
    json_t *const row = json_object();
    record_json(row, attention_test_fields, &to);
    x->emitter.failed = to.judged && !to.verdict.accepted;
    emit_answer(&x->emitter, row, attention_test_lines, &to);
    return x->emitter.failed ? EXIT_FOUND : EXIT_GOOD;
}
