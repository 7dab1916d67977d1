/* SPDX-License-Identifier: BSD-3-Clause */
/* What follows from recorded results: shapes by name, formats, speed-ups, names to draw.
 */
#ifndef BITCUT_ANALYSIS_STUDY_RESULTS_DERIVE_H
#define BITCUT_ANALYSIS_STUDY_RESULTS_DERIVE_H

#include "analysis/study/results.h"

/* The name of the set of shapes that has an m, n and k, or NULL. */
typedef const char *shapes_namer(size_t m, size_t n, size_t k);

/* Add to each result of `bench gpu` but of batches of small GEMMs:
     "shapes"   the set that `shapes` says has its m, n and k, or null
     "format"   that of its parts, or null
     "speedup"  of a kernel of several stages over that of one, in the same recipe, tile,
                study, part, shape, count and slices on the same device; or null
     "label"    its name, of the study of recipes without the tile and stages that the
                tile model chose; and, where they are not the usual, the peer that it
                falls back to, and the device if there are several
     "series"   the label, and the part unless it is whole
     "group"    of a kernel the format in its name, of a peer "cuBLAS", of sgemm, beside
                which all stand, null
   To each of a batch of small GEMMs:
     "shapes"   as above
     "part"     first: the kernel that was listed first of those on the same batches,
                which is the one that the C library takes if all ran; or other
     "series"   count, addressing, and the device if there are several */
void results_derive(struct results *results, shapes_namer *shapes);

#endif
