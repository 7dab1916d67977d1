/* SPDX-License-Identifier: BSD-3-Clause */
/* A call of a BLAS routine that reaches this library in place of the program's library.
 */
#ifndef BITCUT_ANALYSIS_RUN_CALL_H
#define BITCUT_ANALYSIS_RUN_CALL_H

#include "analysis/run/original.h"
#include "analysis/run/blas_product.h"
#include "analysis/run/run_state.h"
#include "analysis/run/stream_call.h"

/* Validity of the arguments of a call. */
enum legality {
    LEGAL,
    LEGAL_EMPTY, /* no product: a size or alpha is 0 */
    LEGAL_NOT,   /* invalid for the routine */
    LEGAL_LEFT   /* a kind that is never computed here */
};

struct shadow;
struct audit;

/* The results for the groups of a batch so far; begin with zeros.  All groups count as
   one call, which ends as the most important of them. */
struct call_groups {
    bool begun, watched, scaled, added;
    enum call_end end;
    enum left_reason left;
};

/* A call that is being handled. */
struct call {
    any_function *original; /* the function to call; NULL: the result is complete */
    bool outermost;         /* no other routine of this library is a caller */
    struct routine *routine;
    const struct product *product;
    /* the call if matrices are in device memory, or NULL: in CPU memory */
    struct stream_call *there;
    const struct product *seen; /* the product in CPU memory; NULL: not yet */
    struct run_site site;
    enum call_end end;
    enum left_reason left;      /* for CALL_LEFT */
    struct fault fault;         /* for CALL_FAILED, or why nothing was compared */
    struct shadow *shadow;      /* the shadow computation, or NULL */
    struct audit *audit;        /* the audit, or NULL */
    uint64_t on_device;         /* GEMMs computed on a device */
    struct call_groups *groups; /* of the batch to which the call belongs, or NULL */
    double began, own_seconds;  /* start; time that is not the routine's own work */
};

/* Begin to handle a call of `routine` from the code at `caller` with arguments for
   `product`: compute it, or determine the function to call.  `groups` belongs to the
   batch of which the call is a group, or is NULL.  If no library has the routine, the
   process ends as it would without this library: with a message, and status 127. */
void call_begin(struct call *t, struct routine *routine, const void *caller,
                const struct product *product, enum legality legality,
                struct call_groups *groups);

/* The same for matrices in device memory; for LEGAL_LEFT there->left has the reason. */
void call_begin_there(struct call *t, struct routine *routine, const void *caller,
                      const struct product *product, enum legality legality,
                      struct stream_call *there);

/* The product in CPU memory, with its operands as they are now; NULL: not available.  For
   a product in device memory this is a copy, which waits for the device. */
const struct product *call_see(struct call *t);

/* Call it when D is there: copy D to t->seen, or from t->seen to the program.  Returns
   false if it cannot be copied. */
bool call_fetch(struct call *t);
bool call_give(struct call *t);

/* End the call.  The result of the original function must be there. */
void call_end(struct call *t);

/* The function to call for a routine that is only logged.  If there is none, the process
   ends as above. */
any_function *call_original(struct routine *routine, const void *caller);

/* Count a call of a routine that is never computed here, made by the function whose frame
   is at `here`, and return the function to call; the second function records its return.
   A call from within another routine of this library is part of that routine's call:
   CBLAS calls BLAS. */
any_function *call_count(struct routine *routine, const void *caller, const char *here);
void call_counted(const char *here);

/* Compute a product in a configuration other than the original: a large product by the
   worker or on the device, which t->on_device counts. */
enum bitcut_status call_compute(struct call *t, const struct product *p,
                                const struct run_configuration *configuration,
                                struct fault *f);

/* The same for a product that is compared with a result of the CPU's own kernels; these
   kernels are not used for it. */
enum bitcut_status call_compute_other(struct call *t, const struct product *p,
                                      const struct run_configuration *configuration,
                                      struct fault *f);

#endif
