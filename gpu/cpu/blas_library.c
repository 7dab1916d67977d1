/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* secure_getenv() */
#include "gpu/cpu/blas_library.h"

#include "gpu/cpu/host_units.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what they say of themselves -------------------------------------------------- */

/* A function without arguments, or NULL. */
typedef const char *text_function(void);

static const char *text_of(void *handle, const char *name)
{
    text_function *function;
    blas_library_find(&function, handle, name);
    const char *text = function ? function() : NULL;
    return text ? text : "";
}

/* The second part of "OpenBLAS 0.3.21 NO_LAPACKE ...", and the kernels. */
static void describe_openblas(char *text, size_t size, void *handle)
{
    const char *config = text_of(handle, "openblas_get_config");
    config += strcspn(config, " ");
    config += strspn(config, " ");
    snprintf(text, size, "%.*s %s", (int)strcspn(config, " "), config,
             text_of(handle, "openblas_get_corename"));
}

static void describe_blis(char *text, size_t size, void *handle)
{
    int (*query)(void);
    const char *(*name)(int);
    blas_library_find(&query, handle, "bli_arch_query_id");
    blas_library_find(&name, handle, "bli_arch_string");
    snprintf(text, size, "%s %s", text_of(handle, "bli_info_get_version_str"),
             query && name ? name(query()) : "");
}

static void describe_mkl(char *text, size_t size, void *handle)
{
    void (*describe)(char *, int);
    char all[200] = "";
    blas_library_find(&describe, handle, "MKL_Get_Version_String");
    if (describe) describe(all, sizeof all - 1);
    const char *version = strstr(all, "Version ");
    snprintf(text, size, "%.*s", version ? (int)strcspn(version + 8, "- ") : 0,
             version ? version + 8 : "");
}

/* The result of dnnl_version() in versions 2 and 3. */
struct dnnl_version {
    int major, minor, patch;
};

static void describe_onednn(char *text, size_t size, void *handle)
{
    const struct dnnl_version *(*version)(void);
    int (*query)(void);
    const char *(*name)(int);
    blas_library_find(&version, handle, "dnnl_version");
    blas_library_find(&query, handle, "dnnl_get_effective_cpu_isa");
    blas_library_find(&name, handle, "dnnl_cpu_isa2str");
    const struct dnnl_version none = { 0 }, *const is = version ? version() : &none;
    const char prefix[] = "cpu_isa_", *isa = query && name ? name(query()) : "";
    if (!strncmp(isa, prefix, sizeof prefix - 1)) isa += sizeof prefix - 1;
    snprintf(text, size, "%d.%d.%d %s", is->major, is->minor, is->patch, isa);
}

/* --- the table -------------------------------------------------------------------- */

const struct blas_library blas_libraries[] = {
    /* clang-format off */
    [BLAS_OPENBLAS]  = { "OpenBLAS", { "libopenblas.so.0" },                      "openblas_set_num_threads",   "openblas_get_num_threads",   describe_openblas },
    [BLAS_BLIS]      = { "BLIS",     { "libblis.so.4", "libblis.so.3" },          "bli_thread_set_num_threads", "bli_thread_get_num_threads", describe_blis     },
    [BLAS_MKL]       = { "MKL",      { "libmkl_rt.so.2", "libmkl_rt.so" },        "MKL_Set_Num_Threads",        "MKL_Get_Max_Threads",        describe_mkl      },
    [BLAS_ONEDNN]    = { "oneDNN",   { "libdnnl.so.3", "libdnnl.so.2" },          NULL,                         NULL,                         describe_onednn   },
    [BLAS_LIBRARIES] = { 0 }
    /* clang-format on */
};

/* --- opening ---------------------------------------------------------------------- */

void blas_library_find(void *function, void *handle, const char *name)
{
    void *const symbol = handle && name ? dlsym(handle, name) : NULL;
    memcpy(function, &symbol, sizeof symbol);
}

static void *open_file(const struct blas_library *l)
{
    void *handle = NULL;
    for (const char *const *file = l->files; *file && !handle; file++)
        handle = dlopen(*file, RTLD_NOW | RTLD_LOCAL);
    return handle;
}

/* Features of the processor that kernels need. */
enum feature { HAS_AMX, HAS_BF16, HAS_AVX512, HAS_AVX2 };

static bool has(enum feature feature)
{
#if defined(__x86_64__) || defined(__i386__)
    switch (feature) {
    case HAS_AMX: return host_system.ask(7, 0).edx >> 22 & 1;
    case HAS_BF16:
        return __builtin_cpu_supports("avx512f") && host_system.ask(7, 1).eax >> 5 & 1;
    case HAS_AVX512: return __builtin_cpu_supports("avx512f");
    case HAS_AVX2: return __builtin_cpu_supports("avx2");
    }
#endif
    (void)feature;
    return false;
}

/* OpenBLAS's names of processors whose kernels need only this feature, the best first. */
static const struct core {
    const char *name;
    enum feature needs;
} cores[] = {
    { "SapphireRapids", HAS_AMX },
    { "Cooperlake", HAS_BF16 },
    { "SkylakeX", HAS_AVX512 },
    { "Haswell", HAS_AVX2 },
    { 0 },
};

/* Open OpenBLAS with the first kernels that both it and the processor support.  OpenBLAS
   ignores an unknown name, so its choice is read after opening it. */
static void *open_openblas(const struct blas_library *l)
{
    void *handle = NULL;
    for (const struct core *c = cores; c->name; c++) {
        if (!has(c->needs)) continue;
        if (handle) dlclose(handle);
        setenv("OPENBLAS_CORETYPE", c->name, 1);
        handle = open_file(l);
        if (!handle || !strcmp(text_of(handle, "openblas_get_corename"), c->name)) break;
    }
    return handle ? handle : open_file(l);
}

void *blas_library_open(const struct blas_library *l)
{
    setenv("OPENBLAS_THREAD_TIMEOUT", "22", 0); /* 2^22 clocks */
    setenv("MKL_THREADING_LAYER", "GNU", 0);    /* the OpenMP runtime that is already
                                                   loaded                           */
    if (l == &blas_libraries[BLAS_OPENBLAS] && !secure_getenv("OPENBLAS_CORETYPE"))
        return open_openblas(l);
    return open_file(l);
}

/* --- threads ---------------------------------------------------------------------- */

void blas_library_thread(const struct blas_library *l, void *handle, int threads)
{
    void (*set)(int);
    blas_library_find(&set, handle, l->set_threads);
    if (set) set(threads);
}

void blas_library_describe(char *text, size_t size, const struct blas_library *l,
                           void *handle, int threads)
{
    char about[120], number[40] = "";
    int (*count)(void);
    blas_library_find(&count, handle, l->threads);
    if (count && threads && count() != threads)
        snprintf(number, sizeof number, " (%d threads)", count());
    l->describe(about, sizeof about, handle);
    snprintf(text, size, "%s %s%s", l->name, about, number);
}
