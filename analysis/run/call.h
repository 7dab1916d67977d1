/* SPDX-License-Identifier: BSD-3-Clause */
/* One call of a BLAS routine that came here in place of the program's library. */
#ifndef BITCUT_ANALYSIS_RUN_CALL_H
#define BITCUT_ANALYSIS_RUN_CALL_H

#include "analysis/run/original.h"
#include "analysis/run/blas_product.h"
#include "analysis/run/run_state.h"
#include "analysis/run/stream_call.h"

/* What the arguments of a call are. */
enum legality {
    LEGAL,
    LEGAL_EMPTY, /* without a product: a size is 0, or alpha */
    LEGAL_NOT,   /* none of the routine's                    */
    LEGAL_LEFT   /* of a kind that is never computed here    */
};

struct shadow;
struct audit;

/* What groups of a batch that were served have had; begin with zeros.  Together they are
   one call: it ends as the group does that is to be known most. */
struct call_groups {
    bool begun, watched, scaled, added;
    enum call_end end;
    enum left_reason left;
};

/* A call in the middle of being served. */
struct call {
    any_function *original; /* to be called; NULL: the result is there             */
    bool outermost;         /* no routine that was called here has called this one */
    struct routine *routine;
    const struct product *product;
    struct stream_call *there;  /* in a device's memory, or NULL: in the host's        */
    const struct product *seen; /* the product in the host's memory; NULL: not yet     */
    struct run_site site;
    enum call_end end;
    enum left_reason left;     /* of CALL_LEFT                                        */
    struct fault fault;        /* of CALL_FAILED, or why nothing was compared         */
    struct shadow *shadow;     /* the other result, or NULL                           */
    struct audit *audit;       /* what is seen of it, or NULL                         */
    uint64_t on_device;        /* GEMMs that were computed there                      */
    struct call_groups *groups; /* of the call that it is a part of, or NULL         */
    double began, own_seconds; /* these of what is not the routine's own work     */
};

/* Begin to serve a call of `routine` from `caller`, whose arguments say `product`:
   compute it, or say what is to be called.  `groups` is of the batch that it is a group
   of, or NULL.  If no library has the routine the process ends as it would without this
   one: with a line, and status 127. */
void call_begin(struct call *t, struct routine *routine, const void *caller,
                const struct product *product, enum legality legality,
                struct call_groups *groups);

/* The same of matrices that are in a device's memory; of LEGAL_LEFT there->left says
   why. */
void call_begin_there(struct call *t, struct routine *routine, const void *caller,
                      const struct product *product, enum legality legality,
                      struct stream_call *there);

/* The product in the host's memory, as its operands are now; NULL: it cannot be had.  Of
   one in a device's memory that is a copy, which waits for the device. */
const struct product *call_see(struct call *t);

/* When D is there: let t->seen have it, or the program what t->seen has.  False: it
   cannot be copied. */
bool call_fetch(struct call *t);
bool call_give(struct call *t);

/* End it: what the original gave is there. */
void call_end(struct call *t);

/* What is to be called of a routine that is only looked at; or the process ends as above.
 */
any_function *call_original(struct routine *routine, const void *caller);

/* Count a call of a routine that is never taken, by the function whose frame is at `here`,
   and say what is to be called; then say that it has returned.  A call from within
   another routine that is counted or taken is part of that one: CBLAS calls BLAS. */
any_function *call_count(struct routine *routine, const void *caller, const char *here);
void call_counted(const char *here);

/* Compute a product in a way that is not the original: a large one by the worker, or on
   the device, which is counted in t->on_device. */
enum bitcut_status call_compute(struct call *t, const struct product *p,
                                const struct run_configuration *way, struct fault *f);

/* The same of what is compared with a product that the processor's own kernels may have
   computed, and so not by them. */
enum bitcut_status call_compute_other(struct call *t, const struct product *p,
                                      const struct run_configuration *way,
                                      struct fault *f);

#endif
