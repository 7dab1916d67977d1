/* SPDX-License-Identifier: BSD-3-Clause */
/* The sets that an operand names: folders with meta.json, at any depth, each once. */
#define _POSIX_C_SOURCE 200809L

#include "analysis/evidence/set_find.h"
#include "tests/scratch.h"

#include <sys/stat.h>

/* Make a folder below the scratch folder; with `set`, one that is a set. */
static void make(const struct scratch *s, const char *name, bool set)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    ck_assert_int_eq(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/%s/meta.json", s->folder, name);
    if (set) scratch_write(path, "{}", 2);
}

/* Remove what make() made, innermost first. */
static void unmake(const struct scratch *s, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s/meta.json", s->folder, name);
    remove(path);
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    ck_assert_int_eq(remove(path), 0);
}

static struct found_list find(const struct scratch *s, const char *name)
{
    struct found_list list = { 0 };
    struct fault f;
    char path[200];
    snprintf(path, sizeof path, "%s%s%s", s->folder, *name ? "/" : "", name);
    ck_assert_int_eq(set_find(&list, path, NULL, &f), BITCUT_OK);
    return list;
}

/* Whether what was found is exactly the folders of these names, in this order. */
static void check_found(const struct scratch *s, struct found_list list,
                        const char *const *names)
{
    size_t n = 0;
    for (; names[n]; n++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s", s->folder, names[n]);
        ck_assert_uint_lt(n, list.count);
        ck_assert_str_eq(list.at[n].folder, path);
        ck_assert_int_eq(list.at[n].fault.status, BITCUT_OK);
    }
    ck_assert_uint_eq(list.count, n);
    found_clear(&list);
    ck_assert_uint_eq(list.count, 0);
}

START_TEST(folders_are_searched)
{
    static const char *const made[] = { "b", "b/2", "b/1", "a", "a/in", ".c", "d", "e" };
    enum { MADE = sizeof made / sizeof made[0] };
    const struct scratch s = scratch_make();
    char link[100];
    for (int i = 0; i < MADE; i++)
        make(&s, made[i], strcmp(made[i], "b") != 0 && strcmp(made[i], "d") != 0);
    snprintf(link, sizeof link, "%s/d/circle", s.folder);
    ck_assert_int_eq(symlink("..", link), 0);
    scratch_write(s.path, "\n{}\n", 4);
    /* In the order of names, a set's own folders, hidden ones and circles not looked
       into, and files passed by. */
    check_found(&s, find(&s, ""), (const char *const[]){ "a", "b/1", "b/2", "e", NULL });
    check_found(&s, find(&s, "b"), (const char *const[]){ "b/1", "b/2", NULL });
    check_found(&s, find(&s, "a"), (const char *const[]){ "a", NULL });
    check_found(&s, find(&s, ".c"), (const char *const[]){ ".c", NULL });
    check_found(&s, find(&s, "file"), (const char *const[]){ "file:2", NULL });
    check_found(&s, find(&s, "none"), (const char *const[]){ "none", NULL });
    ck_assert_int_eq(remove(link), 0);
    for (int i = MADE; i-- > 0;)
        if (strcmp(made[i], "b")) unmake(&s, made[i]);
    unmake(&s, "b");
    scratch_remove(&s);
}
END_TEST

/* An entry says so, with what is wrong. */
START_TEST(a_folder_without_sets)
{
    const struct scratch s = scratch_make();
    struct found_list list = find(&s, "");
    ck_assert_uint_eq(list.count, 1);
    ck_assert_str_eq(list.at[0].folder, s.folder);
    ck_assert_int_eq(list.at[0].fault.status, BITCUT_UNSUPPORTED);
    ck_assert(strstr(list.at[0].fault.text, "meta.json") != NULL);
    found_clear(&list);
    scratch_remove(&s);
}
END_TEST

/* A set whose meta.json cannot be looked at is one; the fault is that of reading it. */
START_TEST(a_set_that_cannot_be_looked_at)
{
    const struct scratch s = scratch_make();
    char link[100];
    make(&s, "x", 0);
    snprintf(link, sizeof link, "%s/x/meta.json", s.folder);
    ck_assert_int_eq(symlink("meta.json", link), 0);
    check_found(&s, find(&s, ""), (const char *const[]){ "x", NULL });
    check_found(&s, find(&s, "x"), (const char *const[]){ "x", NULL });
    unmake(&s, "x");
    scratch_remove(&s);
}
END_TEST

TEST_MAIN("set_find", folders_are_searched, a_folder_without_sets,
          a_set_that_cannot_be_looked_at)
