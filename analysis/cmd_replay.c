/* bitcut replay: recorded sets against the unit table. */
#include "analysis/command.h"
#include "analysis/set.h"
#include "analysis/show.h"

static const struct option_row options[] = { { 0 } };

/* The outputs of a set that the unit does not reproduce. */
struct outcome {
    size_t outputs, mismatches;
    size_t first; /* flat index of the first one */
};

static enum bitcut_status compare(struct outcome *o, const struct set *s,
                                  struct array *got, const struct context *x,
                                  struct fault *f)
{
    const struct fragments in = set_fragments(s);
    const enum bitcut_status status =
        fragments_run(got, &s->unit, &in, s->shape, x->threads, &x->progress, f);
    if (status != BITCUT_OK) return status;
    *o = (struct outcome){ .outputs = got->count };
    for (size_t i = 0; i < got->count; i++) {
        if (array_get(got, i) == array_get(&s->d, i)) continue;
        if (!o->mismatches++) o->first = i;
    }
    return BITCUT_OK;
}

/* The operands of one output, decoded. */
static json_t *operands(const struct array *a, const struct bitcut_format *format,
                        size_t first, size_t stride, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list,
                              show_encoding(format, array_get(a, first + i * stride)));
    return list;
}

static json_t *first_mismatch(const struct set *s, const struct array *got, size_t at)
{
    const size_t n = s->shape.n, m = s->shape.m, k = s->shape.k;
    const size_t fragment = at / (m * n), i = at / n % m, j = at % n;
    const struct bitcut_unit *u = &s->unit;
    return json_pack("{s:[I,I,I], s:o, s:o, s:o, s:o, s:o}", "at", (json_int_t)fragment,
                     (json_int_t)i, (json_int_t)j, "a",
                     operands(&s->a, u->a, (fragment * m + i) * k, 1, k), "b",
                     operands(&s->b, u->b, fragment * k * n + j, n, k), "c",
                     show_encoding(u->c, array_get(&s->c, at)), "got",
                     show_encoding(u->c, array_get(got, at)), "want",
                     show_encoding(u->c, array_get(&s->d, at)));
}

static int replay_set(struct context *x, const char *folder, const struct set *s)
{
    struct fault f;
    struct outcome o;
    struct array got;
    enum bitcut_status status =
        array_init(&got, s->d.dims, s->d.dim, s->d.bytes, false, &f);
    if (status != BITCUT_OK) return fail(folder, &f);
    status = compare(&o, s, &got, x, &f);
    if (status == BITCUT_OK)
        emit_row(
            &x->emitter,
            json_pack("{s:o, s:s, s:s, s:I, s:I, s:o}", "set", json_text(folder), "unit",
                      s->unit.name, "evidence", evidence_text(s->unit.evidence),
                      "outputs", (json_int_t)o.outputs, "mismatches",
                      (json_int_t)o.mismatches, "first",
                      o.mismatches ? first_mismatch(s, &got, o.first) : json_null()));
    array_clear(&got);
    if (status != BITCUT_OK) return fail(folder, &f);
    return o.mismatches ? EXIT_FOUND : EXIT_GOOD;
}

/* One set; its exit status. */
static int replay_folder(struct context *x, const char *folder)
{
    struct set s;
    struct fault f;
    if (set_read(&s, folder, SET_KNOWN | SET_RECORDED, &f) != BITCUT_OK) return fail(folder, &f);
    const int status = replay_set(x, folder, &s);
    set_clear(&s);
    return status;
}

static int run(struct context *x)
{
    static const struct fault stopped = { BITCUT_CANNOT, "stopped" };
    int worst = EXIT_GOOD;
    if (x->operand_count == 0) return complain("replay", "name at least one folder");
    for (int i = 0; i < x->operand_count; i++) {
        if (progress_stopped(&x->progress)) return fail("replay", &stopped);
        const int status = replay_folder(x, x->operands[i]);
        if (status > worst) worst = status;
        if (status == EXIT_CANNOT && progress_stopped(&x->progress)) break;
    }
    return worst;
}

const struct command command_replay = {
    .name = "replay",
    .what = "Compare recorded sets of fragments with the unit table, bit for bit",
    .run = run,
    .own = options,
    .operands = "SET...",
    .operands_most = OPERANDS_MOST,
};
