/* SPDX-License-Identifier: BSD-3-Clause */
#include "analysis/identify/fault.h"

static const struct kernel_fault *const families[] = {
    kernel_faults_terms,  kernel_faults_parts, kernel_faults_epilogue, kernel_faults_k,
    kernel_faults_layout, kernel_faults_sums,  kernel_faults_told
};

const struct kernel_fault *kernel_fault_next(const struct kernel_fault *row)
{
    const size_t count = sizeof families / sizeof *families;
    if (!row) return families[0];
    if (row[1].name) return row + 1;
    for (size_t i = 0; i + 1 < count; i++)
        for (const struct kernel_fault *d = families[i]; d->name; d++)
            if (d == row) return families[i + 1];
    return NULL;
}
