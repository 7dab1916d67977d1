/* SPDX-License-Identifier: BSD-3-Clause */
/* Pastes are read however mail or a chat broke them, or refused. */
#include "tests/evidence/paste_text.h"

/* --- reading ---------------------------------------------------------------------- */

static void check_written(const char *name, const char *device)
{
    char *const text = text_of(name);
    struct paste p = read_text(text);
    const char *line = strchr(text, '\n') + 1;
    for (size_t i = 0; i < p.count; i++, line = strchr(line, '\n') + 1) {
        char own[2048];
        const size_t length = strcspn(line, "\n");
        paste_write(own, sizeof own, &p.at[i]);
        ck_assert_msg(strlen(own) == length && !memcmp(own, line, length), "%s\n%.*s", own,
                      (int)length, line);
    }
    ck_assert_str_eq(p.device, device);
    paste_clear(&p);
    free(text);
}

START_TEST(written_as_read)
{
    check_written("zen4.txt", "cpu");
    check_written("h200.txt", "cuda");
}
END_TEST

/* Add what a mail program or a chat may put in place of a blank or an end of line. */
static void mangle(char *to, const char *from, uint64_t *state)
{
    static const char *const blanks[] = { " ",    "  ",      "\n",     "\r\n", "\n> ",
                                          "\r\n> > ", "\t", "\xc2\xa0", " \n| " };
    strcpy(to, "Hello, here it is:\r\n\r\n> ```\n> ");
    to += strlen(to);
    for (; *from; from++) {
        if (*from == ' ' || *from == '\n') {
            strcpy(to, blanks[test_between(state, 0, 8)]);
            to += strlen(to);
        } else *to++ = *from;
    }
    strcpy(to, "\n```\nBye\n");
}

START_TEST(mangled_text_is_read)
{
    char *const text = text_of("zen4.txt"), *const other = malloc(8 * strlen(text));
    uint64_t state = test_seed();
    struct paste p = read_text(text);
    for (int i = 0; i < test_cases(40, 400); i++) {
        mangle(other, text, &state);
        struct paste q = read_text(other);
        ck_assert_uint_eq(q.count, p.count);
        ck_assert(!memcmp(q.at, p.at, p.count * sizeof *p.at));
        paste_clear(&q);
    }
    paste_clear(&p);
    free(other);
    free(text);
}
END_TEST

/* Each character, changed to another one that is printable. */
START_TEST(every_change_is_noticed)
{
    char *const text = text_of("zen4.txt");
    uint64_t state = test_seed();
    struct paste p;
    const size_t length = strlen(text);
    for (size_t i = (size_t)test_between(&state, 0, 6); i < length; i += (size_t)test_step(5)) {
        const char was = text[i];
        struct fault f = { .text = "" };
        if (was == ' ' || was == '\n') continue;
        do text[i] = (char)test_between(&state, '!', '~');
        while (text[i] == was);
        ck_assert_msg(paste_read(&p, text, length, &f) == BITCUT_BAD_FILE,
                      "character %zu: '%c' for '%c'", i, text[i], was);
        ck_assert_msg(strstr(f.text, "settle:") != NULL, "%s", f.text);
        text[i] = was;
    }
    free(text);
}
END_TEST

START_TEST(lost_lines_are_noticed)
{
    char *const text = text_of("zen4.txt"), *const other = calloc(strlen(text) + 1, 1);
    char *end = text;
    for (int lost = 0; *end; lost++, end++) {
        char *const start = end;
        end = strchr(end, '\n');
        memcpy(other, text, (size_t)(start - text));
        strcpy(other + (start - text), end + 1);
        refused(other, "is missing");
        memcpy(other, text, (size_t)(end - text) - 20);
        other[end - text - 20] = 0;
        refused(other, "its end is missing");
    }
    free(other);
    free(text);
}
END_TEST

#define LINE                                                                             \
    "settle:1 op=mm a=f16 b=f16 d=f16 m=64 n=64 k=16 inputs=terms seed=1 "               \
    "e=-14:13:-14:13:8:32 no=x"

START_TEST(wrong_values_are_refused)
{
    static const struct {
        const char *was, *now, *why;
    } wrong[] = {
        { "op=mm", "op=mn", "op=mn is unknown here" },
        { "a=f16", "a=f17", "a=f17 is unknown here" },
        { "m=64", "m=064", "m=064 is unknown here" },
        { "m=64", "m=65537", "m=65537 is unknown here" },
        { "m=64", "m=18446744073709551617", "is unknown here" },
        { "m=64", "m=0", "a size is too small" },
        { "m=64", "m=", "m= is unknown here" },
        { "m=64", "m=64 m=64", "m=64 is unknown here" },
        { " m=64", "", "a part of the line is missing" },
        { "k=16", "k=1", "a size is too small" },
        { "k=16", "k=24", "do not fit their formats" },
        { "k=16", "k=256", "do not fit their formats" },
        { "seed=1", "seed=4096", "seed=4096 is unknown here" },
        { "8:32", "8", "is unknown here" },
        { "8:32", "8:32:1", "is unknown here" },
        { "8:32", "8:-1", "do not fit their formats" },
        { "e=-14", "e=-15", "do not fit their formats" },
        { "e=-14:13", "e=-14:16", "do not fit their formats" },
        { "e=-14:13", "e=-14:12", "do not fit their formats" },
        { "b=f16", "b=ue8m0", "do not fit their formats" },
        { "a=f16", "a=s8", "D has no such format" },
        { "d=f16", "d=e4m3", "D has no such format" },
        { "inputs=terms", "inputs=ties", "do not fit their formats" },
        { " no=x", "", "a part of the line is missing" },
        { "no=x", "no=x g0=00000000", "a part of the line is missing" },
        { "no=x", "no=x extra=1", "extra=1 is unknown here" },
        { "no=x", "scale=ue8m0:3:8 no=x", "the block scales do not fit" },
        { "no=x", "scale=ue8m0:0:8 no=x", "is unknown here" },
        { "no=x", "scale=ue4m3:16:7 no=x", "the block scales do not fit" },
        { "no=x", "scale=f32:16:1 no=x", "the block scales do not fit" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *const text = calloc(TEXT_MAX, 1), line[400];
        const char *const at = strstr(LINE, wrong[i].was);
        ck_assert(at != NULL);
        snprintf(line, sizeof line, "%.*s%s%s", (int)(at - LINE), LINE, wrong[i].now,
                 at + strlen(wrong[i].was));
        add_begin(text, 1);
        add_record(text, line);
        add_end(text, 1);
        refused(text, wrong[i].why);
        free(text);
    }
}
END_TEST

START_TEST(work_is_limited)
{
    char *const text = calloc(TEXT_MAX, 1), line[400];
    add_begin(text, 20);
    for (int i = 1; i <= 20; i++) {
        snprintf(line, sizeof line,
                 "settle:%d op=mm a=f16 b=f16 d=f16 m=64 n=64 k=16384 inputs=flat seed=1 "
                 "e=0:1:0:1:0:0 no=x",
                 i);
        add_record(text, line);
    }
    add_end(text, 20);
    refused(text, "settle:17: the matrices are too large");
    free(text);
}
END_TEST

TEST_MAIN("paste", written_as_read, mangled_text_is_read, every_change_is_noticed,
          lost_lines_are_noticed, wrong_values_are_refused, work_is_limited)
