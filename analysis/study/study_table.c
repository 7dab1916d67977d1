/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/study/study.h"

const struct table_row study_chapters[] = {
    [CHAPTER_KEEPS] = { "keeps", "How many bits does a split retain?" },
    [CHAPTER_UNDERFLOW] = { "underflows", "When does it underflow?" },
    [CHAPTER_UNIT] = { "unit", "What does the unit cost?" },
    [CHAPTER_DROPPED] = { "terms", "What does the dropped term cost?" },
    [CHAPTER_CHOICE] = { "choice", "RN or RZ, 2^10 or 2^11?" },
    [CHAPTER_BOUNDS] = { "limits", "Are errors within their bounds?" },
    [CHAPTER_USES] = { "uses", "How large are errors in applications?" },
    [CHAPTER_FP64] = { "fp64", "How accurate is FP64 on units for short numbers?" },
    [CHAPTER_SPEED] = { "performance",
                        "How fast is it, and how much energy does it take?" },
    [CHAPTER_EVIDENCE] = { "evidence", "What do devices and libraries compute?" },
    { 0 }
};

#define LISTED(name) &study_##name,

const struct study *const studies[] = { STUDIES(LISTED) NULL };

const struct study *study_of_claim(const struct claim *claim)
{
    for (const struct study *const *s = studies; *s; s++)
        for (const struct claim *c = (*s)->claims; c->name; c++)
            if (c == claim) return *s;
    return NULL;
}

const struct claim *study_claim_next(const struct claim *claim)
{
    const struct study *const *s = studies;
    while (claim && *s != study_of_claim(claim)) s++;
    const struct claim *next = claim ? claim + 1 : studies[0]->claims;
    while (!next->name && *++s) next = (*s)->claims;
    return next->name ? next : NULL;
}
