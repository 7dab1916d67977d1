/* A BLAS of the host, if it has one: a yardstick for speed. */
#ifndef BITCUT_ANALYSIS_SGEMM_H
#define BITCUT_ANALYSIS_SGEMM_H

#include <stddef.h>

struct sgemm {
    void *library;
    void (*multiply)(void); /* cblas_sgemm; NULL: no library was found */
    void (*set_threads)(int);
    char name[80]; /* the library and the kernels that it chose */
};

/* Load OpenBLAS or BLIS.  OpenBLAS takes its oldest kernels on processors that it does not
   know, so OPENBLAS_CORETYPE is set to what this one has, unless it is set already. */
void sgemm_open(struct sgemm *s);
void sgemm_close(struct sgemm *s);

/* d = a b for row-major n x n matrices. */
void sgemm_run(const struct sgemm *s, float *d, size_t n, const float *a, const float *b,
               int threads);

#endif
