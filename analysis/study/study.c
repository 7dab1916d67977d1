#include "analysis/study/study.h"

#define LISTED(name) &study_##name,

const struct study *const studies[] = { STUDIES(LISTED) NULL };
