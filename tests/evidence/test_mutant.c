/* SPDX-License-Identifier: BSD-3-Clause */
/* The stored vectors compared with mutants of the unit table.  For every unit they must
   detect each row that is one step away, unless that row is proved equivalent; and no
   sample may ever detect an equivalent row.  BITCUT_DATA names the data folder. */
#include "analysis/evidence/directed.h"
#include "analysis/evidence/set.h"
#include "lib/base/table.h"
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NOTICED_MIN = 2,  /* by fewer a mutant would be left to one lucky vector      */
    KILLED_MIN = 2500 /* over all sets: a field that is lost takes some hundreds */
};

/* The unit whose folder holds the vectors of u: itself if it is recorded, else the first
   with the same behaviour. */
static const struct bitcut_unit *kept_for(const struct bitcut_unit *u)
{
    const struct bitcut_unit *first = units;
    if (u->evidence == EVIDENCE_RECORDED) return u;
    while (!field_same(first, u)) first++;
    return first;
}

static void read_kept(struct set *s, const struct bitcut_unit *u)
{
    const char *data = getenv("BITCUT_DATA");
    char path[4096];
    struct fault f;
    snprintf(path, sizeof path, "%s/directed/%s", data ? data : "data", u->name);
    ck_assert_msg(set_read(s, path, SET_KNOWN | SET_RECORDED, &f) == BITCUT_OK, "%s: %s",
                  path, f.text);
    ck_assert_str_eq(s->unit.name, u->name);
    if (u->evidence == EVIDENCE_RECORDED)
        ck_assert_str_eq(json_string_value(json_object_get(s->meta, "origin")),
                         "recorded on the device");
}

/* Outputs of the set that the unit does not give. */
static size_t differences(const struct set *s, const struct bitcut_unit *u)
{
    const struct fragments in = set_fragments(s);
    size_t n = 0;
    for (size_t i = 0; i < s->shape.count; i++)
        n += !set_has(s, i, fragments_dot(u, &in, s->shape, i, 0, 0));
    return n;
}

/* Whether the set judges the mutant rightly; prints what it does if not. */
static bool judged(const struct set *s, const struct mutant *m)
{
    const size_t noticed = differences(s, &m->unit);
    char name[80];
    if (m->proof ? noticed == 0 : noticed >= NOTICED_MIN) return true;
    mutant_name(name, sizeof name, m);
    printf("# %s with %s: noticed by %zu of %zu vectors%s%s\n", s->unit.name, name,
           noticed, s->shape.count, m->proof ? ", but proved: " : "",
           m->proof ? m->proof->what : "");
    fflush(stdout);
    return false;
}

START_TEST(kept_vectors_kill)
{
    int mutants = 0, proved = 0, wrong = 0, sets = 0;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        struct mutant list[MUTANTS_MAX];
        struct set s;
        if (kept_for(u) != u) continue;
        read_kept(&s, u);
        ck_assert_uint_eq(s.shape.m * s.shape.n, 1);
        ck_assert_msg(differences(&s, u) == 0, "%s: %zu vectors differ", u->name,
                      differences(&s, u));
        const int n = mutants_list(list, u);
        for (int i = 0; i < n; i++) {
            wrong += !judged(&s, &list[i]);
            proved += list[i].proof != NULL;
        }
        mutants += n;
        sets++;
        set_clear(&s);
    }
    printf("# %d sets, %d mutants, %d of them proved equal\n", sets, mutants, proved);
    ck_assert_int_eq(wrong, 0);
    ck_assert_int_ge(mutants - proved, KILLED_MIN);
}
END_TEST

/* Mutants of u with a proof that a sample of some class notices; prints them. */
static int proofs_broken(const struct bitcut_unit *u, const char *with, int samples,
                         uint64_t stream)
{
    struct mutant list[MUTANTS_MAX];
    const int n = mutants_list(list, u);
    struct rng rng = rng_start(test_seed(), stream);
    uint64_t proved = 0, broken = 0;
    for (int i = 0; i < n; i++) proved |= (uint64_t)(list[i].proof != NULL) << i;
    for (const struct sample_class *class = sample_classes; class->name; class ++)
        for (int i = 0; i < samples && (u->scale || !class->scaled); i++) {
            struct sample s;
            class->fill(&s, u, &rng);
            broken |= directed_mask(u, &s, list, n, proved);
        }
    for (int i = 0; i < n; i++) {
        char name[80];
        if (!(broken >> i & 1)) continue;
        mutant_name(name, sizeof name, &list[i]);
        printf("# %s%s with %s: proved equal (%s), but it is not\n", u->name, with, name,
               list[i].proof->what);
    }
    fflush(stdout);
    return __builtin_popcountll(broken);
}

/* Each row whose behaviour is its own, and the rows one step from it: a proof is a
   condition on any row, not on those of today's table. */
START_TEST(proofs_hold)
{
    const int samples = test_cases(100, 20000), beside = test_cases(6, 500);
    uint64_t stream = 0;
    int broken = 0;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        struct mutant list[MUTANTS_MAX];
        if (kept_for(u) != u) continue;
        broken += proofs_broken(u, "", samples, stream++);
        const int n = mutants_list(list, u);
        for (int i = 0; i < n; i++) {
            char with[90] = " (", name[80];
            mutant_name(name, sizeof name, &list[i]);
            strcat(strcat(with, name), ")");
            broken += proofs_broken(&list[i].unit, with, beside, stream++);
        }
    }
    ck_assert_int_eq(broken, 0);
}
END_TEST

/* Each proof is the reason for some mutant: none is left from an older table. */
START_TEST(proofs_are_used)
{
    for (const struct proof *p = proofs; p->name; p++) {
        bool used = false;
        for (const struct bitcut_unit *u = units; u->name && !used; u++) {
            struct mutant list[MUTANTS_MAX];
            const int n = mutants_list(list, u);
            for (int i = 0; i < n; i++) used |= list[i].proof == p;
        }
        ck_assert_msg(used, "%s, %s: no mutant needs it", p->field, p->what);
    }
}
END_TEST

/* What the generator makes from a row alone, without the kept vectors. */
START_TEST(generator_kills)
{
    static const char *const names[] = {
        "hopper/mma.m16n8k16.f32.f16", "hopper/mma.m16n8k32.f16.e4m3",
        "cdna3/mfma.32x32x4.f32.xf32", "cdna2/mfma.32x32x8.f32.bf16_1k",
        "blackwell/tcgen05.m128n8k64.nvf4.f32.e2m1",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct bitcut_unit *u = table_find(TABLE(units), names[i]);
        struct directed d;
        ck_assert_int_eq(directed_make(&d, u, test_seed() + 1, NULL, NULL), BITCUT_OK);
        for (int j = 0; j < d.mutant_count; j++)
            ck_assert_msg(d.mutants[j].proof || d.kills[j] >= DIRECTED_KILLS, "%s: %s %d",
                          u->name, d.mutants[j].field->name, d.kills[j]);
        directed_clear(&d);
    }
}
END_TEST

/* The fields, separated by blanks, with a mutant that no vector of a kill matrix notices. */
static void open_of(char *text, size_t size, const json_t *matrix)
{
    const char *last = "";
    text[0] = 0;
    for (size_t i = 0; i < json_array_size(matrix); i++) {
        const json_t *row = json_array_get(matrix, i);
        const char *field = json_string_value(json_object_get(row, "field"));
        const size_t used = strlen(text);
        if (!json_is_null(json_object_get(row, "proof")) || !strcmp(field, last) ||
            json_integer_value(json_object_get(row, "noticed")) > 0)
            continue;
        snprintf(text + used, size - used, "%s%s", used ? " " : "", field);
        last = field;
    }
}

/* What the table says that published vectors leave open is what was counted; and only
   vectors that a correctly rounded sum does not explain are called its evidence. */
START_TEST(open_fields_are_counted)
{
    const char *data = getenv("BITCUT_DATA");
    char path[4096];
    int published = 0, consistent = 0;
    snprintf(path, sizeof path, "%s/published/mutants.jsonl", data ? data : "data");
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    json_t *line;
    while ((line = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL))) {
        const char *name = json_string_value(json_object_get(line, "unit"));
        const struct bitcut_unit *u = table_find(TABLE(units), name);
        ck_assert_msg(u != NULL, "%s", name);
        if (u->evidence == EVIDENCE_PUBLISHED) {
            char text[400];
            open_of(text, sizeof text, json_object_get(line, "matrix"));
            ck_assert_msg(!strcmp(text, u->open), "%s: %s, counted %s", name, u->open, text);
            published++;
        }
        consistent += u->evidence == EVIDENCE_CONSISTENT;
        ck_assert_msg(u->evidence == EVIDENCE_RECORDED ||
                          (u->evidence == EVIDENCE_CONSISTENT) ==
                              !json_integer_value(json_object_get(line, "ideal")),
                      "%s: %s", name, unit_evidence(u));
        json_decref(line);
    }
    fclose(f);
    for (const struct bitcut_unit *u = units; u->name; u++) {
        published -= u->evidence == EVIDENCE_PUBLISHED;
        consistent -= u->evidence == EVIDENCE_CONSISTENT;
    }
    ck_assert_int_eq(published, 0);
    ck_assert_int_eq(consistent, 0);
}
END_TEST

/* The fields with a mutant that no observation notices. */
static void open_to(char *text, size_t size, const struct set *s)
{
    struct mutant list[MUTANTS_MAX];
    const int n = mutants_list(list, &s->unit);
    const struct field *last = NULL;
    text[0] = 0;
    for (int i = 0; i < n; i++) {
        const size_t used = strlen(text);
        if (list[i].proof || list[i].field == last || differences(s, &list[i].unit)) continue;
        last = list[i].field;
        snprintf(text + used, size - used, "%s%s", used ? " " : "", last->name);
    }
}

/* Published observations of hardware are what the rows give that name them, and leave
   open what those rows describe; a correctly rounded sum does not explain them. */
START_TEST(observations_are_met)
{
    const char *data = getenv("BITCUT_DATA");
    size_t outputs = 0;
    for (const struct bitcut_unit *u = units; u->name; u++) {
        if (u->evidence != EVIDENCE_OBSERVED) continue;
        char path[4096], open[400];
        struct bitcut_unit ideal;
        struct set s;
        struct fault f;
        snprintf(path, sizeof path, "%s/observed/%s", data ? data : "data", u->name);
        ck_assert_msg(set_read(&s, path, SET_KNOWN | SET_RECORDED, &f) == BITCUT_OK,
                      "%s: %s", path, f.text);
        open_to(open, sizeof open, &s);
        ck_assert_str_eq(s.unit.name, u->name);
        ck_assert_uint_eq(differences(&s, u), 0);
        ck_assert_msg(!strcmp(open, u->open), "%s: %s, counted %s", u->name, u->open, open);
        ck_assert(mutant_ideal(&ideal, u) && differences(&s, &ideal) > 0);
        outputs += s.shape.count;
        set_clear(&s);
    }
    printf("# %zu observations\n", outputs);
    ck_assert(outputs >= 612);
}
END_TEST

TEST_MAIN("mutant", kept_vectors_kill, proofs_hold, proofs_are_used, generator_kills,
          open_fields_are_counted, observations_are_met)
