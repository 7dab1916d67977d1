/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/input/elements.h"

#include "lib/base/threads.h"
#include "lib/number/hostfp.h"

void elements_fill(struct matrix *m, const struct draw *d,
                          element_function *element)
{
#pragma omp parallel num_threads(d->threads)
    {
        struct hostfp saved;
        hostfp_enter(&saved);
#pragma omp for schedule(static)
        for (size_t i = 0; i < m->rows; i++)
            for (size_t j = 0; j < m->cols; j++) {
                struct element e = { .i = i, .j = j };
                rand_block(e.word, d->seed, element_stream(d), block_of(i, j));
                m->at[i * m->cols + j] = element(d, &e);
            }
        hostfp_leave(&saved);
    }
}
