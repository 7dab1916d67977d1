/* SPDX-License-Identifier: BSD-3-Clause */
/* The page and its Markdown: verdicts first, then chapters in their order, texts that
   contain markup, and unfinished sections. */
#define _POSIX_C_SOURCE 200809L

#include "analysis/report/figure.h"
#include "analysis/report/plot_data.h"
#include "analysis/report/plot_look.h"
#include "analysis/report/provenance.h"
#include "analysis/report/report_finding.h"
#include "analysis/report/svg.h"
#include "tests/scratch.h"
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

static const struct study_plot no_plot = { .series = "s" };

static json_t *verdict(const char *claim, const char *unit, enum claim_outcome v)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:f, s:f, s:s, s:s, s:s?, s:s?, s:s}", "study",
                     "b", "name", "n", "claim", claim, "paper", "Some | Paper", "printed",
                     1.5, "ours", 2.0, "verdict", verdicts[v].name, "reason",
                     "as <it> is", "unit", unit, "evidence",
                     unit ? "published models only" : NULL, "origin", "paper");
}

/* The same at the small scale, with what recorded rows say of it. */
static json_t *also_kept(json_t *verdict, enum claim_outcome v, const char *reason)
{
    json_object_set_new(verdict, "scale", json_string("small"));
    json_object_set_new(verdict, "recorded",
                        json_pack("{s:s, s:f, s:s, s:s}", "verdict", verdicts[v].name,
                                  "ours", 3.25, "reason", reason, "origin", "paper"));
    return verdict;
}

/* A question of bitcut's own, which differs: no paper's. */
static json_t *own_problem(void)
{
    json_t *own = verdict("own question", NULL, VERDICT_DIFFERS);
    json_object_set_new(own, "origin", json_string("bitcut"));
    return own;
}

/* Two sections with rows, the later chapter first, and one that is not finished. */
static void make_sections(struct section s[3])
{
    const struct section sections[3] = {
        { .name = "b",
          .what = "what b is",
          .title = "Title b",
          .text = "Text & <b>",
          .chapter = CHAPTER_SPEED,
          .source = json_string("command b"),
          .origin = json_string("a <device>"),
          .plot = &no_plot,
          .rows = json_pack("[{s:i, s:s}]", "x", 7, "s", "one"),
          .says = json_pack("[{s:s, s:s}]", "what", "seen", "says", "a | b < c"),
          .verdicts = json_pack(
              "[o, o, o, o, o]", verdict("first claim", "a100", VERDICT_AGREES),
              verdict("second_claim", "a100", VERDICT_DIFFERS),
              verdict("third claim", NULL, VERDICT_AGREES),
              verdict("fourth claim", NULL, VERDICT_UNDECIDED), own_problem()) },
        { .name = "a",
          .what = "what a is",
          .title = "Title a",
          .text = "Text a",
          .chapter = CHAPTER_KEEPS,
          .source = json_string("command a"),
          .plot = &no_plot,
          .rows = json_pack("[{s:f, s:s}]", "x", 0.5, "s", "one") },
        { .name = "c",
          .what = "what c is",
          .title = "Title c",
          .text = "Text c",
          .chapter = CHAPTER_KEEPS,
          .source = json_string("command c"),
          .plot = &no_plot },
    };
    memcpy(s, sections, sizeof sections);
}

static void clear_sections(struct section s[3])
{
    for (int i = 0; i < 3; i++) {
        json_decref(s[i].source);
        json_decref(s[i].origin);
        json_decref(s[i].rows);
        json_decref(s[i].says);
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

/* Write all of it and read it again. */
static void check_form(report_form *form, const char *const *pieces)
{
    struct section s[3];
    const struct scratch folder = scratch_make();
    make_sections(s);
    const struct page page = { .title = "A report",
                               .command = "bitcut <x>",
                               .about = "It is so.",
                               .chapters = study_chapters,
                               .answers = json_pack("[{s:s, s:s}]", "question", "Is it?",
                                                    "answer", "1 < 2"),
                               .sections = s,
                               .count = 3 };
    ck_assert_int_eq(report_write(folder.path, form, &page, NULL), BITCUT_OK);
    check_order(text_of(folder.path), pieces);
    json_decref(page.answers);
    clear_sections(s);
    scratch_remove(&folder);
}

START_TEST(page_answers_first)
{
    static const char *const pieces[] = {
        "<title>A report</title>",
        "<code>bitcut &lt;x&gt;</code>",
        "It is so.",
        "Is it?",
        "<td>1 &lt; 2</td>",
        "Contents",
        "<a href=\"#verdicts\">What was tested</a>",
        "How many bits does a split retain?",
        "Of 4 claims of papers",
        "2 agree, 1 differ, 1 are undecided, and 0",
        "Of 1 questions asked by bitcut itself",
        "0 have the expected answer, 1 have another answer",
        "<div class=\"lines\">", /* its names break */
        "<td>a100</td>",
        "published models only",
        "<td class=\"number\">2</td>",
        "<form class=\"filters\" hidden>",
        "<select name=\"paper\">",
        "<select name=\"verdict\">",
        "<select name=\"unit\">",
        "data-paper=\"Some | Paper\" "
        "data-verdict=\"agrees\" data-unit=\"a100\">",
        "<a href=\"#b\">first claim</a>",
        "\"printed: \">1.5</td>",
        "\"found: \"><span class=\"agrees\">",
        "agrees</span><br>2</td>",
        "as &lt;it&gt; is",
        "data-verdict=\"undecided\" data-unit=\"none\">",
        "<h2 id=\"chapter-keeps\">",
        "Title a",
        "Title c",
        "Not finished.",
        "<h2 id=\"chapter-performance\">",
        "Title b",
        "Text &amp; &lt;b&gt;",
        "<th>seen</th><td>a | b &lt; c</td>",
        "class=\"differs\">differs",
        "a &lt;device&gt;",
        "<a href=\"b.csv\">b.csv</a>",
        NULL
    };
    check_form(report_html, pieces);
}
END_TEST

START_TEST(markdown_says_the_same)
{
    static const char *const pieces[] = { "# A report",
                                          "`bitcut <x>`",
                                          "| Is it? | 1 \\< 2 |",
                                          "Of 4 claims of papers",
                                          "2 agree, 1 differ, 1 are undecided",
                                          "Of 1 questions asked by bitcut itself",
                                          "| a100 | published models only | 2 |",
                                          "| claim | paper | printed | found | reason |",
                                          "| second\\_claim | Some \\| Paper | 1.5 | "
                                          "**differs**: 2 | as \\<it\\> is |",
                                          "## How many bits does a split retain?",
                                          "### Title a",
                                          "[a.csv](a.csv)",
                                          "### Title c",
                                          "**Not finished.**",
                                          "### Title b",
                                          "| seen | a \\| b \\< c |",
                                          "* **differs**: second\\_claim",
                                          "a \\<device\\>",
                                          NULL };
    check_form(report_markdown, pieces);
}
END_TEST

/* --- findings --------------------------------------------------------------------- */

static const struct claim *claim_of(const char *name)
{
    const struct claim *c = NULL;
    while ((c = study_claim_next(c)))
        if (!strcmp(c->name, name)) return c;
    return NULL;
}

/* Each is of claims and a study that there are, and has a sentence for either verdict. */
START_TEST(findings_are_of_claims)
{
    for (int i = 0; i < FINDINGS; i++) {
        const struct report_finding *const f = &report_findings[i];
        ck_assert_msg(table_find(TABLE(studies), f->study), "%s", f->study);
        ck_assert(f->part[0].claim && f->plot.x && f->plot.y && f->plot.series);
        for (const struct report_finding_part *p = f->part; p->claim; p++) {
            ck_assert_msg(claim_of(p->claim), "%s", p->claim);
            ck_assert_str_ne(p->agrees, p->differs);
        }
    }
}
END_TEST

/* The sentence of a verdict, which is released. */
static void check_sentence(json_t *verdict, const char *wanted)
{
    const struct report_finding_part part = { "n", "it holds, {} times", "it fails: {}" };
    json_t *const sentence = report_finding_sentence(&part, verdict);
    ck_assert_str_eq(json_string_value(sentence), wanted);
    json_decref(sentence);
    json_decref(verdict);
}

START_TEST(sentences_follow_verdicts)
{
    check_sentence(verdict("c", NULL, VERDICT_AGREES), "It holds, 2 times.");
    check_sentence(verdict("c", NULL, VERDICT_DIFFERS), "It fails: 2.");
    check_sentence(verdict("c", NULL, VERDICT_UNDECIDED), "It is undecided whether c.");
    check_sentence(verdict("c", NULL, VERDICT_CANNOT), "It is not known whether c.");
    check_sentence(also_kept(verdict("c", NULL, VERDICT_AGREES), VERDICT_DIFFERS, ""),
                   "It holds, 2 times (at the sizes of papers the verdict is: differs).");
    check_sentence(also_kept(verdict("c", NULL, VERDICT_AGREES), VERDICT_AGREES, ""),
                   "It holds, 2 times.");
}
END_TEST

/* The page and its Markdown begin with findings of the claims that have verdicts. */
START_TEST(pages_begin_with_findings)
{
    static report_form *const forms[] = { report_html, report_markdown };
    static const struct picture none[FINDINGS];
    for (int i = 0; i < 4; i++) {
        struct section s[3];
        const struct scratch folder = scratch_make();
        make_sections(s);
        json_t *one = json_array_get(s[0].verdicts, i / 2);
        const struct report_finding_part part = report_findings[0].part[0];
        json_object_set_new(one, "name", json_string(part.claim));
        json_object_set_new(one, "scale", json_string("small"));
        json_object_set_new(json_array_get(s[0].verdicts, 0), "scale", json_string("small"));
        const struct page page = { .title = "A report", .command = "bitcut", .about = "It.",
                                   .chapters = study_chapters, .sections = s, .count = 3,
                                   .small = none };
        json_t *const sentence = report_finding_sentence(&part, one);
        const char *const pieces[] = { "Findings", study_chapters[CHAPTER_KEEPS].what,
                                       json_string_value(sentence), "What was tested",
                                       NULL };
        ck_assert_int_eq(report_write(folder.path, forms[i % 2], &page, NULL), BITCUT_OK);
        check_order(text_of(folder.path), pieces);
        ck_assert_ptr_null(strstr(text_of(folder.path), report_findings[1].part[0].agrees));
        json_decref(sentence);
        clear_sections(s);
        scratch_remove(&folder);
    }
}
END_TEST

/* A picture in the page: no background, no empty groups, no attributes that the page
   sets; texts, whatever they hold, stay. */
START_TEST(pictures_are_short)
{
    static const char drawn[] =
        "<?xml version=\"1.0\"?>\n<svg \n width=\"852\" height=\"9\"\n>\n<title>Gnuplot</title>\n"
        "<rect x=\"0\" y=\"0\" width=\"852\" height=\"9\" fill=\"#ffffff\"/>\n"
        "<g fill=\"none\" color=\"black\">\n</g>\n"
        "<g fill=\"none\" stroke-width=\"2.00\"><path stroke='rgb(  0, 12,  9)'  d='M1,2  '/>"
        "<text> a  fill=\"none\" , b</text></g>\n</svg>\n";
    static const char wanted[] =
        "<svg width=\"852\" height=\"9\"><g stroke-width=\"2.00\">"
        "<path stroke='rgb(0,12,9)' d='M1,2'/><text> a  fill=\"none\" , b</text></g></svg>";
    const struct scratch folder = scratch_make();
    FILE *const file = fopen(folder.path, "w");
    svg_write(file, drawn);
    fclose(file);
    ck_assert_str_eq(text_of(folder.path), wanted);
    ck_assert_int_eq(svg_width(drawn), 852);
    ck_assert_int_eq(svg_width("<svg>"), 0);
    scratch_remove(&folder);
}
END_TEST

/* --- two scales ------------------------------------------------------------------- */

/* A section with claims at both scales, of which one changes, and one at its own alone.
 */
static void check_scales(report_form *form, const char *const *pieces)
{
    struct section s[3];
    const struct scratch folder = scratch_make();
    make_sections(s);
    json_decref(s[0].verdicts);
    json_t *alone = verdict("third", NULL, VERDICT_CANNOT);
    json_object_set_new(alone, "scale", json_string("small"));
    s[0].verdicts = json_pack(
        "[o, o, o]",
        also_kept(verdict("first", "a100", VERDICT_AGREES), VERDICT_AGREES, "as <it> is"),
        also_kept(verdict("second", "a100", VERDICT_AGREES), VERDICT_DIFFERS,
                  "as <it> was"),
        alone);
    s[0].recorded = json_pack("{s:s, s:i, s:s, s:s, s:i, s:i}", "scale", "paper", "seed", 1,
                          "file", "b.jsonl", "sha256", "digest", "points", 3, "of", 4);
    const struct page page = { .title = "A report",
                               .command = "bitcut",
                               .about = "It is so.",
                               .chapters = study_chapters,
                               .sections = s,
                               .count = 3 };
    ck_assert_int_eq(report_write(folder.path, form, &page, NULL), BITCUT_OK);
    check_order(text_of(folder.path), pieces);
    json_decref(s[0].recorded);
    clear_sections(s);
    scratch_remove(&folder);
}

START_TEST(page_has_two_scales)
{
    static const char *const pieces[] = { "small matrices, in seconds",
                                          "use the sizes &quot;small&quot;",
                                          "<td>small</td>",
                                          "computed for this report",
                                          "<td class=\"number\">3</td>",
                                          "<td>paper</td>",
                                          "rows that come with bitcut",
                                          "<td class=\"number\">2</td>",
                                          "Of the 2 claims",
                                          "1 has another verdict",
                                          "<th>small sizes</th><th>sizes of papers</th>",
                                          ">first</a>",
                                          "\"sizes of papers: \"><span class=\"agrees\">",
                                          "<br>3.25</td><td>as &lt;it&gt; is</td>",
                                          ">second</a>",
                                          "<td class=\"changed\"",
                                          "differs</span> <em>(small: agrees)</em><br>",
                                          "<em>small:</em> as &lt;it&gt; is<br>",
                                          "<em>paper:</em> as &lt;it&gt; was</td>",
                                          ">third</a>",
                                          "<td data-sizes=\"sizes of papers: \">-</td>",
                                          "Sizes of papers: 3 of 4 points come",
                                          "studies/b.jsonl, SHA-256 digest. The command "
                                          "bitcut study b --scale paper --seed 1",
                                          NULL };
    check_scales(report_html, pieces);
}
END_TEST

START_TEST(markdown_has_two_scales)
{
    static const char *const pieces[] = {
        "| small | ",
        " | papers | 3 | 2 | 0 | 0 | 1 |",
        "| paper | ",
        " | papers | 2 | 1 | 1 | 0 | 0 |",
        "| printed | small sizes | sizes of papers | reason |",
        "| first | Some \\| Paper | 1.5 | **agrees**: 2 | **agrees**: 3.25 | as",
        "| second | Some \\| Paper | 1.5 | **agrees**: 2 | **differs** (small: agrees): "
        "3.25 "
        "| small: as \\<it\\> is; paper: as \\<it\\> was |",
        "| third | Some \\| Paper | 1.5 | **needs hardware**: 2 | - |",
        "* **agrees**, at the sizes of papers **differs**: second",
        "3 of 4 points",
        NULL
    };
    check_scales(report_markdown, pieces);
}
END_TEST

/* What ends both reasons is said once, from a part on. */
START_TEST(reasons_are_told_apart)
{
    static const struct {
        const char *small, *paper, *own, *recorded, *both;
    } cases[] = { { "a", NULL, "", "", "a" },
                  { "a; b", "a; b", "", "", "a; b" },
                  { "1 case; b; c", "2 cases; b; c", "1 case", "2 cases", "b; c" },
                  { "1; xb; c", "2; yb; c", "1; xb", "2; yb", "c" },
                  { "c", "a; c", "c", "a; c", "" },
                  { "same", "some", "same", "some", "" } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct report_reasons r;
        json_t *v = json_pack("{s:s}", "reason", cases[i].small);
        if (cases[i].paper)
            json_object_set_new(v, "recorded", json_pack("{s:s}", "reason", cases[i].paper));
        report_reasons(&r, v);
        ck_assert_str_eq(r.own, cases[i].own);
        ck_assert_str_eq(r.recorded, cases[i].recorded);
        ck_assert_str_eq(r.both, cases[i].both);
        json_decref(v);
    }
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

/* --- what stands below ------------------------------------------------------------ */

/* What is drawn says what to see; what has several seeds a spread. */
START_TEST(figures_describe_what_to_see)
{
    for (int i = 0; studies[i]; i++)
        ck_assert_msg(studies[i]->plot.sees, "%s", studies[i]->name);
    for (const struct figure *g = figures; g->name; g++)
        ck_assert_msg(g->plot.sees, "%s", g->name);
}
END_TEST

/* A section's own units with their evidence, and what made it. */
START_TEST(provenance_is_whole)
{
    static const char *const keys[] = { "bitcut", "commit",    "compiler",
                                        "flags",  "processor", "data" };
    struct section s[3];
    make_sections(s);
    json_t *p = provenance_of(&s[0], "digest");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        ck_assert_msg(json_string_value(json_object_get(p, keys[i])), "%s", keys[i]);
    json_t *of = json_object_get(p, "units");
    ck_assert_uint_eq(json_array_size(of), 1);
    ck_assert_str_eq(
        json_string_value(json_object_get(json_array_get(of, 0), "evidence")),
        "published models only");
    ck_assert_str_eq(json_string_value(json_object_get(p, "command")), "command b");
    ck_assert_str_eq(json_string_value(json_object_get(p, "recorded")), "a <device>");
    json_decref(p);
    clear_sections(s);
}
END_TEST

TEST_MAIN("report", page_answers_first, markdown_says_the_same, findings_are_of_claims,
          sentences_follow_verdicts, pages_begin_with_findings, pictures_are_short,
          page_has_two_scales, markdown_has_two_scales, reasons_are_told_apart,
          chapters_are_filled, figures_describe_what_to_see, provenance_is_whole)
