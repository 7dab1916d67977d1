/* The page and its Markdown: what was tested first, then chapters in their order, texts
   that mean nothing to the markup, and what is not finished. */
#include "analysis/study/report.h"
#include "tests/scratch.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

static const struct study_plot no_plot = { .series = "s" };

static json_t *verdict(const char *claim, const char *unit, enum verdict v)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:s, s:s, s:s?, s:s?}", "study", "b",
                     "name", "n", "claim", claim, "paper", "Some | Paper", "printed", 1.5,
                     "ours", 2.0, "verdict", verdicts[v].name, "reason", "as <it> is",
                     "unit", unit, "evidence", unit ? "published models only" : NULL);
}

/* Two sections with rows, the later chapter first, and one that is not finished. */
static void make_sections(struct section s[3])
{
    const struct section sections[3] = {
        { "b", "what b is", "Title b", "Text & <b>", CHAPTER_SPEED,
          json_string("command b"), json_string("a <device>"), &no_plot,
          json_pack("[{s:i, s:s}]", "x", 7, "s", "one"),
          json_pack("[o, o, o]", verdict("first claim", "a100", VERDICT_AGREES),
                    verdict("second_claim", "a100", VERDICT_DIFFERS),
                    verdict("third claim", NULL, VERDICT_AGREES)),
          NULL },
        { "a", "what a is", "Title a", "Text a", CHAPTER_KEEPS, json_string("command a"),
          NULL, &no_plot, json_pack("[{s:f, s:s}]", "x", 0.5, "s", "one"), NULL, NULL },
        { "c", "what c is", "Title c", "Text c", CHAPTER_KEEPS, json_string("command c"),
          NULL, &no_plot, NULL, NULL, NULL },
    };
    memcpy(s, sections, sizeof sections);
}

static void clear_sections(struct section s[3])
{
    for (int i = 0; i < 3; i++) {
        json_decref(s[i].source);
        json_decref(s[i].origin);
        json_decref(s[i].rows);
        json_decref(s[i].verdicts);
    }
}

static char *text_of(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

/* Each piece comes after the one before it. */
static void check_order(const char *text, const char *const *pieces)
{
    for (; *pieces; pieces++) {
        text = strstr(text, *pieces);
        ck_assert_msg(text, "no %s", *pieces);
        text += strlen(*pieces);
    }
}

START_TEST(page_answers_first)
{
    static const char *const pieces[] = { "<code>bitcut &lt;x&gt;</code>",
                                          "3 claims of papers",
                                          "2 agree, 1 differ",
                                          "of 0 nothing",
                                          "<td>a100</td>",
                                          "published models only",
                                          "<td class=\"number\">2</td>",
                                          "<a href=\"#b\">first claim</a>",
                                          "<td>1.5</td><td>2</td>",
                                          "as &lt;it&gt; is",
                                          "What does a split keep?",
                                          "<h2 id=\"chapter-keeps\">",
                                          "Title a",
                                          "Title c",
                                          "Not finished.",
                                          "<h2 id=\"chapter-performance\">",
                                          "Title b",
                                          "Text &amp; &lt;b&gt;",
                                          "class=\"differs\">differs",
                                          "a &lt;device&gt;",
                                          "data:text/csv,x,s%0A7,one%0A",
                                          NULL };
    struct section s[3];
    const struct page page = { "bitcut <x>", s, 3 };
    const struct scratch folder = scratch_make();
    make_sections(s);
    ck_assert_int_eq(report_write(folder.path, report_html, &page, NULL), BITCUT_OK);
    check_order(text_of(folder.path), pieces);
    clear_sections(s);
    scratch_remove(&folder);
}
END_TEST

START_TEST(markdown_says_the_same)
{
    static const char *const pieces[] = { "`bitcut <x>`",
                                          "3 claims: 2 agree, 1 differ, of 0 nothing",
                                          "| a100 | published models only | 2 |",
                                          "| differs | second\\_claim | Some \\| Paper | "
                                          "1.5 | 2 | as \\<it\\> is |",
                                          "## What does a split keep?",
                                          "### Title a",
                                          "[a.csv](a.csv)",
                                          "### Title c",
                                          "**Not finished.**",
                                          "### Title b",
                                          "* **differs**: second\\_claim",
                                          "a \\<device\\>",
                                          NULL };
    struct section s[3];
    const struct page page = { "bitcut <x>", s, 3 };
    const struct scratch folder = scratch_make();
    make_sections(s);
    ck_assert_int_eq(report_write(folder.path, report_markdown, &page, NULL), BITCUT_OK);
    check_order(text_of(folder.path), pieces);
    clear_sections(s);
    scratch_remove(&folder);
}
END_TEST

/* Every study and figure has its chapter, and every chapter a study or figure. */
START_TEST(chapters_are_filled)
{
    int count[CHAPTERS] = { 0 };
    for (int i = 0; studies[i]; i++) count[studies[i]->chapter]++;
    ck_assert(studies[0]->chapter == CHAPTER_KEEPS);
    for (int i = 0; i < CHAPTERS; i++) {
        ck_assert(study_chapters[i].name && study_chapters[i].what);
        ck_assert_msg(count[i] > 0 && count[i] <= 6, "%s: %d", study_chapters[i].name,
                      count[i]);
    }
}
END_TEST

TEST_MAIN("report", page_answers_first, markdown_says_the_same, chapters_are_filled)
