/* bitcut replay: recorded sets against the unit table. */
#include "analysis/command.h"
#include "analysis/difference.h"
#include "analysis/set.h"

static const struct option_row options[] = { { 0 } };

static json_t *describe(const char *folder, const struct set *s, const struct array *got,
                        const struct difference *d)
{
    const struct fragments in = set_fragments(s);
    return json_pack(
        "{s:o, s:s, s:s, s:I, s:I, s:o}", "set", json_text(folder), "unit", s->unit.name,
        "evidence", evidence_text(s->unit.evidence), "outputs", (json_int_t)d->outputs,
        "mismatches", (json_int_t)d->mismatches, "first",
        d->mismatches ? difference_json(&s->unit, &in, s->shape, got, &s->d, d->first, 0)
                      : json_null());
}

static int replay_set(struct context *x, const char *folder, const struct set *s)
{
    struct fault f;
    struct array got;
    struct difference d = { 0 };
    const struct fragments in = set_fragments(s);
    enum bitcut_status status =
        array_init(&got, s->d.dims, s->d.dim, s->d.bytes, false, &f);
    if (status != BITCUT_OK) return fail(folder, &f);
    status = fragments_run(&got, &s->unit, &in, s->shape, x->threads, &x->progress, &f);
    if (status == BITCUT_OK) {
        d = difference_of(&got, &s->d);
        emit_row(&x->emitter, describe(folder, s, &got, &d));
    }
    array_clear(&got);
    if (status != BITCUT_OK) return fail(folder, &f);
    return d.mismatches ? EXIT_FOUND : EXIT_GOOD;
}

/* One set; its exit status. */
static int replay_folder(struct context *x, const char *folder)
{
    struct set s;
    struct fault f;
    if (set_read(&s, folder, SET_KNOWN | SET_RECORDED, &f) != BITCUT_OK)
        return fail(folder, &f);
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
