/* SPDX-License-Identifier: BSD-3-Clause */
/* Recipes as types, so that the compiler knows their numbers. */
#ifndef BITCUT_GPU_CUDA_RECIPE_CUH
#define BITCUT_GPU_CUDA_RECIPE_CUH

#include "gpu/module/module.h"

#include <initializer_list>

/* A term: part A of A times part B of B. */
template <int A, int B, int ACCUMULATOR> struct term {
    static constexpr int accumulator = ACCUMULATOR;
    static constexpr struct recipe_term row = { A, B, ACCUMULATOR, false };
    static constexpr int parts = (A > B ? A : B) + 1;
};

constexpr int most(std::initializer_list<int> x)
{
    int y = 0;
    for (int e : x) y = e > y ? e : y;
    return y;
}

/* Accumulator 0 is promoted after every PROMOTE of its instructions, a multiple of the
   number in a k-step, and after the last one; 0: never. */
template <int PROMOTE, class... TERM> struct recipe {
    static constexpr int parts = most({ TERM::parts... });
    static constexpr int accumulators = most({ TERM::accumulator... }) + 1;
    static constexpr int promote = PROMOTE, terms = sizeof...(TERM);
    static constexpr int in_first = ((TERM::accumulator == 0) + ...); /* accumulator */
    static constexpr struct recipe_term at[terms] = { TERM::row... };
    static constexpr struct gpu_program row = { parts, terms, { TERM::row... }, PROMOTE };

    /* Call what(TERM{}) for each term in order. */
    template <class What> static __device__ void each(What what) { (what(TERM{}), ...); }
};

template <int ACCUMULATOR> using hh = term<0, 0, ACCUMULATOR>;
template <int ACCUMULATOR> using hl = term<0, 1, ACCUMULATOR>;
template <int ACCUMULATOR> using lh = term<1, 0, ACCUMULATOR>;
template <int ACCUMULATOR> using ll = term<1, 1, ACCUMULATOR>;

using one = recipe<0, hh<0>>;
template <int PROMOTE> using three = recipe<PROMOTE, lh<0>, hl<0>, hh<0>>;
using four = recipe<0, ll<0>, lh<0>, hl<0>, hh<0>>;
template <int PROMOTE>
using six = recipe<PROMOTE, term<2, 0, 0>, ll<0>, term<0, 2, 0>, lh<0>, hl<0>, hh<0>>;
template <int PROMOTE>
using nine = recipe<PROMOTE, term<2, 2, 4>, term<2, 1, 3>, term<1, 2, 3>, term<2, 0, 2>,
                    ll<2>, term<0, 2, 2>, lh<1>, hl<1>, hh<0>>;
template <int PROMOTE> using main_last = recipe<PROMOTE, lh<1>, hl<1>, hh<0>>;
template <int PROMOTE>
using copies_last = recipe<PROMOTE, term<1, 2, 1>, term<2, 1, 1>, hh<0>>;
template <int PROMOTE> using main_first = recipe<PROMOTE, hh<0>, hl<1>, lh<1>>;

#endif
