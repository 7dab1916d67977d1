/* SPDX-License-Identifier: BSD-3-Clause */
/* What cuBLASLt chooses for a product, and the bits that it gives; row-major D = A B.

       nvcc -O2 -arch=sm_90 -o plans plans.cu -lcublas -lcublasLt
       plans run [SAMPLES] < shapes        the first algorithm of the heuristic, and D
       plans shapes SEED COUNT < kinds     COUNT random shapes of each kind, for `run`
       plans ask SEED SECONDS [ROUND] < kinds  the algorithm alone, for random shapes
       plans layers LAST < layers          the algorithm alone, for all m up to LAST
       plans answers KINDS SECONDS < shapes    the algorithm alone, for the shapes of plan_pick

   A line of `shapes` is: type layout epilogue m n k batch (plans.cuh).  `run` prints the line
   again, the nine fields of the algorithm, the digest of 64 outputs by cublasLtMatmul, and
   that by cublasGemmEx (cublasGemmStridedBatchedEx), `=` if it is the same, `-` if there is
   none.  Outputs are those in rows floor(i (m - 1) / 7) and columns floor(j (n - 1) / 7) of
   the last batch, i and j from 0 to 7; the digest is FNV-1a of their encodings as
   little-endian words of 32 bits.  The file SAMPLES gets these words.

   A line of `kinds` is: type layout epilogue batch, and of `layers`: type layout epilogue n k.
   `ask` and `layers` write binary codes to standard output, 16 bits for each shape, and the
   table of codes to standard error.  `ask` goes round by round: ROUND shapes of
   each kind, 16384 by default.

   An element of A, B or the bias is made of mix(index + 0x9e3779b9 which), with which = 1 for
   A, 2 for B, 3 for the bias; index is (batch m + row) k + k-th for A, (batch n + column) k +
   k-th for B and the column for the bias. */
#include "plans.cuh"

/* --- run -------------------------------------------------------------------------- */

static __global__ void take(uint32_t *words, const void *d, int bytes, int m, int n, int batch)
{
    const size_t row = (size_t)(threadIdx.x / 8) * (size_t)(m - 1) / 7,
                 column = (size_t)(threadIdx.x % 8) * (size_t)(n - 1) / 7,
                 at = ((size_t)(batch - 1) * m + row) * n + column;
    words[threadIdx.x] =
        bytes == 2 ? (uint32_t)((const uint16_t *)d)[at] : ((const uint32_t *)d)[at];
}

static uint32_t digest(const uint32_t words[64])
{
    uint32_t x = 0x811c9dc5u;
    for (int i = 0; i < 256; i++) x = (x ^ (words[i / 4] >> i % 4 * 8 & 255)) * 0x01000193u;
    return x;
}

static uint32_t read_words(uint32_t words[64], const struct device *x, const struct shape *s)
{
    take<<<1, 64>>>(x->words, x->d, s->type->out.bytes, s->m, s->n, s->batch);
    MUST(cudaMemcpy(words, x->words, 256, cudaMemcpyDeviceToHost));
    return digest(words);
}

static int heavy_run(const struct device *x, const struct shape *s)
{
    const struct type *const t = s->type;
    return cublasGemmStridedBatchedEx(
        x->heavy, s->tb ? CUBLAS_OP_T : CUBLAS_OP_N, s->ta ? CUBLAS_OP_T : CUBLAS_OP_N, s->n,
        s->m, s->k, scalar(t, 1), x->b, t->in.type, s->tb ? s->k : s->n,
        (long long)s->n * s->k, x->a, t->in.type, s->ta ? s->m : s->k, (long long)s->m * s->k,
        scalar(t, 0), x->d, t->out.type, s->n, (long long)s->m * s->n, s->batch, t->compute,
        CUBLAS_GEMM_DEFAULT);
}

static int heavy_single(const struct device *x, const struct shape *s)
{
    const struct type *const t = s->type;
    return cublasGemmEx(x->heavy, s->tb ? CUBLAS_OP_T : CUBLAS_OP_N,
                        s->ta ? CUBLAS_OP_T : CUBLAS_OP_N, s->n, s->m, s->k, scalar(t, 1), x->b,
                        t->in.type, s->tb ? s->k : s->n, x->a, t->in.type,
                        s->ta ? s->m : s->k, scalar(t, 0), x->d, t->out.type, s->n, t->compute,
                        CUBLAS_GEMM_DEFAULT);
}

/* Results of the last matrices are not left where the next are expected. */
static void clear_output(const struct device *x, const struct shape *s)
{
    MUST(cudaMemsetAsync(x->d, 0x5a,
                         (size_t)s->batch * s->m * s->n * s->type->out.bytes));
}

static void run_shape(const struct device *x, const struct shape *s, const char *line,
                      FILE *samples)
{
    const size_t rows_a = (size_t)s->m * s->batch, rows_b = (size_t)s->n * s->batch;
    struct call c = describe(s, x->bias);
    cublasLtMatmulAlgo_t algorithm;
    uint32_t words[64], other[64];
    fill<<<1024, 256>>>(x->a, s->type->in, rows_a, s->m, s->k, s->ta, 1);
    fill<<<1024, 256>>>(x->b, s->type->in, rows_b, s->n, s->k, !s->tb, 2);
    if (s->bias) fill<<<64, 256>>>(x->bias, s->type->out, 1, 1, s->n, 0, 3);
    clear_output(x, s);
    if (!choose(&algorithm, x->light, &c, x->limits)) {
        printf("%s\tnone\n", line);
    } else {
        const fields f = fields_of(&algorithm);
        const int status = cublasLtMatmul(x->light, c.how, scalar(s->type, 1), x->b, c.b, x->a,
                                          c.a, scalar(s->type, 0), x->d, c.d, x->d, c.d,
                                          &algorithm, x->workspace, WORKSPACE, 0);
        const uint32_t ours = read_words(words, x, s);
        if (samples) fwrite(words, 4, 64, samples);
        printf("%s\t", line);
        for (int i = 0; i < FIELDS; i++) printf("%s%u", i ? "," : "", f[i]);
        if (status) printf("\tstatus%d", status);
        else printf("\t%08x", ours);
        int heavy = 1;
        if (!s->bias && s->type->gemm_ex) {
            clear_output(x, s);
            heavy = s->batch > 1 ? heavy_run(x, s) : heavy_single(x, s);
        }
        if (heavy) printf("\t-\n");
        else if (read_words(other, x, s) == ours) printf("\t=\n");
        else printf("\t%08x\n", digest(other));
    }
    MUST(cudaGetLastError());
    forget(&c);
}

/* Whether the matrices fit into the buffers; other shapes are left out. */
static bool fits(const struct shape *s)
{
    const size_t in = s->type->in.bytes, out = s->type->out.bytes, m = s->m, n = s->n, k = s->k;
    const size_t most = std::max({ m * k * in, n * k * in, m * n * out });
    return most * s->batch <= BUFFER;
}

static int run(const char *path)
{
    struct device x;
    struct shape s;
    char line[256];
    FILE *const samples = path ? fopen(path, "wb") : NULL;
    open_device(&x);
    header();
    while (next_shape(&s, line))
        if (fits(&s)) run_shape(&x, &s, line, samples);
    if (samples) fclose(samples);
    return 0;
}

/* --- the heuristic alone ---------------------------------------------------------- */

/* Fields that do not decide the order of nvjet (66) or of any kernel are 0. */
static fields deciding(fields x)
{
    x[SWIZZLE] = x[INNER] = x[CLUSTER] = 0;
    if (x[ID] == 66) x[TILE] = 0;
    return x;
}

struct codes {
    std::mutex lock;
    std::map<fields, uint16_t> code;
};

static uint16_t code_of(struct codes *all, std::map<fields, uint16_t> *mine, const fields &x)
{
    const auto known = mine->find(x);
    if (known != mine->end()) return known->second;
    std::lock_guard<std::mutex> hold(all->lock);
    const auto added = all->code.emplace(x, (uint16_t)(all->code.size() + 1));
    mine->emplace(x, added.first->second);
    return added.first->second;
}

static uint16_t ask_one(cublasLtHandle_t light, cublasLtMatmulPreference_t limits,
                        const struct shape *s, struct codes *all,
                        std::map<fields, uint16_t> *mine)
{
    cublasLtMatmulAlgo_t algorithm;
    struct call c = describe(s, (const void *)256);
    const uint16_t code = choose(&algorithm, light, &c, limits)
                              ? code_of(all, mine, deciding(fields_of(&algorithm)))
                              : 0;
    forget(&c);
    return code;
}

/* An octave, and a number in it, rounded up to a multiple of `grain`. */
static int size_of(uint32_t h, int octaves, int first, int grain)
{
    const int octave = first + (int)((h >> 16) % (uint32_t)octaves),
              size = (1 << octave) + (int)((h & 0xffff) << octave >> 16);
    return (size + grain - 1) / grain * grain;
}

/* The shape at `index` of the random ones: m of any size, n and k multiples of 64, 8 or 1, and
   of 16 for types of 8 bits; smaller for batches.  A batch of 0 becomes 2 to 1023. */
static void random_shape(struct shape *s, uint32_t seed, uint32_t index)
{
    static const int grains[8] = { 64, 8, 8, 8, 64, 8, 8, 1 };
    const int least = s->type->in.bytes == 1 ? 16 : 1, less = s->batch != 1 ? 2 : 0;
    const uint32_t h = mix(index + 0x9e3779b9u * seed);
    const int of_n = grains[h & 7], of_k = grains[h >> 3 & 7];
    s->m = size_of(mix(h + 1), 13 - less, 0, 1);
    s->n = size_of(mix(h + 2), 13 - less, 0, of_n > least ? of_n : least);
    s->k = size_of(mix(h + 3), 11 - less, 3, of_k > least ? of_k : least);
    if (!s->batch) s->batch = size_of(mix(h + 4), 9, 1, 1);
}

/* Answers for `count` shapes that `make` sets from their index, by all processors. */
template <typename Make>
static void ask_all(uint16_t *to, size_t count, struct codes *all, Make make)
{
    std::vector<std::thread> threads;
    const unsigned workers = std::thread::hardware_concurrency();
    for (unsigned w = 0; w < workers; w++)
        threads.emplace_back([=] {
            cublasLtHandle_t light;
            std::map<fields, uint16_t> mine;
            MUST(cublasLtCreate(&light));
            const cublasLtMatmulPreference_t limits = preference();
            for (size_t i = w; i < count; i += workers) {
                struct shape s;
                make(&s, i);
                to[i] = ask_one(light, limits, &s, all, &mine);
            }
            cublasLtDestroy(light);
        });
    for (std::thread &t : threads) t.join();
}

static void print_codes(const struct codes *all)
{
    for (const auto &x : all->code) {
        fprintf(stderr, "%u\t", x.second);
        for (int i = 0; i < FIELDS; i++) fprintf(stderr, "%s%u", i ? "," : "", x.first[i]);
        fputc('\n', stderr);
    }
}

static std::vector<struct shape> read_kinds(FILE *file)
{
    char name[32], turns[8], epilogue[16];
    int batch;
    std::vector<struct shape> kinds;
    while (fscanf(file, "%31s %7s %15s %d", name, turns, epilogue, &batch) == 4) {
        struct shape kind;
        if (!read_type(&kind, name, turns, epilogue)) exit(2);
        kind.batch = batch;
        kinds.push_back(kind);
    }
    return kinds;
}

static int shapes(uint32_t seed, size_t count)
{
    const std::vector<struct shape> kinds = read_kinds(stdin);
    for (size_t i = 0; i < count * kinds.size(); i++) {
        struct shape s = kinds[i % kinds.size()];
        random_shape(&s, seed, (uint32_t)i);
        printf("%s %c%c %s %d %d %d %d\n", s.type->name, "NT"[s.ta], "NT"[s.tb],
               s.bias ? "bias" : "none", s.m, s.n, s.k, s.batch);
    }
    return 0;
}

static int ask(uint32_t seed, time_t seconds, size_t size)
{
    const time_t end = time(NULL) + seconds;
    const std::vector<struct shape> kinds = read_kinds(stdin);
    struct codes all;
    std::vector<uint16_t> answers(size);
    header();
    for (size_t round = 0;; round++)
        for (const struct shape &kind : kinds) {
            if (time(NULL) >= end) {
                print_codes(&all);
                return 0;
            }
            ask_all(answers.data(), size, &all, [=](struct shape *s, size_t i) {
                *s = kind;
                random_shape(s, seed, (uint32_t)(round * size + i));
            });
            fwrite(answers.data(), 2, size, stdout);
        }
}

static int layers(size_t last)
{
    char name[32], turns[8], epilogue[16];
    int n, k;
    struct codes all;
    std::vector<struct shape> kinds;
    header();
    while (scanf("%31s %7s %15s %d %d", name, turns, epilogue, &n, &k) == 5) {
        struct shape kind;
        if (!read_type(&kind, name, turns, epilogue)) return 2;
        kind.n = n;
        kind.k = k;
        kinds.push_back(kind);
    }
    std::vector<uint16_t> answers(kinds.size() * last);
    const struct shape *const first = kinds.data();
    ask_all(answers.data(), answers.size(), &all, [=](struct shape *s, size_t i) {
        *s = first[i / last];
        s->m = (int)(i % last) + 1;
    });
    fwrite(answers.data(), 2, answers.size(), stdout);
    print_codes(&all);
    return 0;
}

/* Answers for binary shapes on standard input, six numbers each: the line of the file of kinds, m,
   n, k, batch, and one that is not read; by one thread, until they end or SECONDS have passed.
   Sixteen such processes are faster than as many threads. */
static int answer(const char *path, time_t seconds)
{
    const time_t end = time(NULL) + seconds;
    FILE *const file = fopen(path, "r");
    if (!file) return 2;
    const std::vector<struct shape> kinds = read_kinds(file);
    cublasLtHandle_t light;
    struct codes all;
    std::map<fields, uint16_t> mine;
    int32_t x[6];
    header();
    MUST(cublasLtCreate(&light));
    const cublasLtMatmulPreference_t limits = preference();
    for (size_t i = 0; i % 1024 || time(NULL) < end; i++) {
        if (fread(x, sizeof x, 1, stdin) != 1) break;
        struct shape s = kinds.at(x[0]);
        s.m = x[1], s.n = x[2], s.k = x[3], s.batch = x[4];
        const uint16_t code = ask_one(light, limits, &s, &all, &mine);
        fwrite(&code, 2, 1, stdout);
    }
    print_codes(&all);
    return 0;
}

int main(int argc, char **argv)
{
    enum { ROUND = 16384 };
    const char *const what = argc > 1 ? argv[1] : "";
    const unsigned long first = argc > 2 ? strtoul(argv[2], NULL, 10) : 0,
                        second = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    if (!strcmp(what, "run")) return run(argc > 2 ? argv[2] : NULL);
    if (!strcmp(what, "shapes") && argc == 4) return shapes((uint32_t)first, second);
    if (!strcmp(what, "ask") && (argc == 4 || argc == 5))
        return ask((uint32_t)first, (time_t)second, argc > 4 ? strtoul(argv[4], NULL, 10) : ROUND);
    if (!strcmp(what, "layers") && argc == 3) return layers(first);
    if (!strcmp(what, "answers") && argc == 4) return answer(argv[2], (time_t)second);
    fprintf(stderr,
            "use: plans run [SAMPLES] | shapes SEED COUNT | ask SEED SECONDS [ROUND] | "
            "layers LAST | answers KINDS SECONDS\n");
    return 2;
}
