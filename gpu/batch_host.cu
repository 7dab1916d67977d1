/* Host code alone: batches of small GEMMs on the host's memory, and on the device's. */
#include "gpu/batch.cuh"

namespace
{

/* Memory of the host and where its copy is on the device. */
struct copied {
    const struct gpu_memory *here;
    char *memory; /* to free */
    char *there;  /* of here->at */
    const uint16_t **each;
};

cudaError_t copy_there(struct copied *x, const struct gpu_memory *here)
{
    x->here = here;
    const cudaError_t status =
        cudaMalloc((void **)&x->memory, here->bytes + GPU_ALIGNMENT);
    if (status != cudaSuccess) return status;
    x->there = x->memory + (uintptr_t)here->at % GPU_ALIGNMENT;
    return cudaMemcpy(x->there, here->at, here->bytes, cudaMemcpyHostToDevice);
}

const uint16_t *translated(const struct copied *x, const uint16_t *at)
{
    return at ? (const uint16_t *)(x->there + ((const char *)at - (char *)x->here->at))
              : NULL;
}

/* The pointers that `from` has, as those on the device. */
cudaError_t copy_pointers(struct copied *x, const uint16_t *const *from, size_t count)
{
    const size_t bytes = count * sizeof *from;
    const uint16_t **const each = new const uint16_t *[count];
    for (size_t i = 0; i < count; i++) each[i] = translated(x, from[i]);
    cudaError_t status = cudaMalloc((void **)&x->each, bytes);
    if (status == cudaSuccess)
        status = cudaMemcpy(x->each, each, bytes, cudaMemcpyHostToDevice);
    delete[] each;
    return status;
}

/* The operand there; memory that was copied for another one is the same. */
cudaError_t operand_there(struct gpu_batched_operand *o, struct copied *x,
                          const struct gpu_memory *here, const struct copied *other,
                          size_t count)
{
    cudaError_t status = cudaSuccess;
    if (other && other->here->at == here->at) x->here = here, x->there = other->there;
    else status = copy_there(x, here);
    if (status != cudaSuccess) return status;
    if (o->each && count) {
        status = copy_pointers(x, o->each, count);
        o->each = x->each;
    } else {
        o->at = translated(x, o->at);
    }
    return status;
}

cudaError_t run_there(struct copied x[4], const struct gpu_batched *g,
                      const struct gpu_batched_kernel *kernel,
                      const struct gpu_memory memory[4])
{
    struct gpu_batched there = *g;
    struct gpu_batched_operand *const operand[4] = { &there.a, &there.b, &there.c,
                                                     &there.d };
    cudaError_t status = cudaSuccess;
    for (int i = 0; i < 4 && status == cudaSuccess; i++)
        status =
            operand_there(operand[i], &x[i], &memory[i], i == 3 ? &x[2] : NULL, g->count);
    if (status == cudaSuccess) status = (cudaError_t)kernel->launch(&there, NULL);
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    if (status == cudaSuccess)
        status =
            cudaMemcpy(memory[3].at, x[3].there, memory[3].bytes, cudaMemcpyDeviceToHost);
    return status;
}

int batched_run(const struct gpu_batched *g, const struct gpu_batched_kernel *kernel,
                const struct gpu_memory memory[4], char *fault)
{
    struct copied x[4] = {};
    cudaError_t first = run_there(x, g, kernel, memory);
    for (const struct copied &one : x)
        for (void *at : { (void *)one.each, (void *)one.memory }) {
            const cudaError_t status = cudaFree(at);
            if (first == cudaSuccess) first = status;
        }
    return fault_of(fault, first);
}

} // namespace

int batched_start(const struct gpu_batched *g, const struct gpu_batched_kernel *kernel,
                  void *stream, char *fault)
{
    return fault_of(fault, (cudaError_t)kernel->launch(g, stream));
}

const struct gpu_batched_part batched = { batched_kernels, batched_run, batched_start,
                                          &batched_timer };
