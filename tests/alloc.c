/* Preloaded, it runs a program again and again, in each run with another allocation of
   memory failing, and prints how a run ended that ended otherwise than it may.

   The allocations are those from main() on: the loader's and those of constructors before
   it are not the program's.  In a run the n-th fails, or all from the n-th on; n is 1, 2,
   ... to ALLOC_EVERY, and then grows by a part in ALLOC_PARTS, until a run needs fewer.  A
   run must end like one in which none fails: with the same status, standard output and
   standard error; or with status 3, one line that begins with "bitcut: " (or more, if
   ALLOC_SETS is set: one for each of several sets), and whole lines on standard output if
   ALLOC_LINES is set.  After each run the shell runs ALLOC_CHECK, if
   set, with the words "undisturbed" or "failed" behind; what it prints is a fault too.
   The clock stands still, for speeds are printed. */
#define _GNU_SOURCE /* RTLD_NEXT, memfd_create() */

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- the functions of the C library that are replaced ------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long *allocations; /* of the run so far, seen by the process that started it */
static long first_failure;       /* 0: none */
static bool only_first;

static bool fails(void)
{
    if (!first_failure) return false;
    const long n = atomic_fetch_add(allocations, 1) + 1;
    if (n < first_failure || (only_first && n > first_failure)) return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails() ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (fails()) return ENOMEM;
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){ .tv_sec = 1 };
    return 0;
}

/* --- one run ------------------------------------------------------------------------ */

enum { OUT, ERR, STREAMS };
enum { TEXT_MOST = 1 << 20, SECONDS = 60, CANNOT = 3 };

struct program {
    int (*run)(int argc, char **argv, char **environment);
    int argc;
    char **argv, **environment;
    int file[STREAMS]; /* of no name, for what it prints */
};

struct ending {
    int status; /* as waitpid() has it */
    char text[STREAMS][TEXT_MOST];
};

static void text_read(char text[TEXT_MOST], int file)
{
    const ssize_t length = pread(file, text, TEXT_MOST - 1, 0);
    text[length > 0 ? length : 0] = 0;
}

static void program_run(struct ending *e, const struct program *p, long n, bool once)
{
    *allocations = 0;
    for (int i = 0; i < STREAMS; i++)
        if (ftruncate(p->file[i], 0) || lseek(p->file[i], 0, SEEK_SET)) abort();
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        for (int i = 0; i < STREAMS; i++) dup2(p->file[i], i + 1);
        only_first = once;
        first_failure = n;
        exit(p->run(p->argc, p->argv, p->environment));
    }
    if (waitpid(child, &e->status, 0) != child) abort();
    for (int i = 0; i < STREAMS; i++) text_read(e->text[i], p->file[i]);
}

/* --- all runs ----------------------------------------------------------------------- */

static bool same(const struct ending *x, const struct ending *y)
{
    return x->status == y->status && !strcmp(x->text[OUT], y->text[OUT]) &&
           !strcmp(x->text[ERR], y->text[ERR]);
}

static bool is_message(const char *text)
{
    const char *end = strchr(text, '\n');
    if (strncmp(text, "bitcut: ", 8) != 0 || !end) return false;
    return !end[1] || (getenv("ALLOC_SETS") && is_message(end + 1));
}

static bool whole_lines(const char *text)
{
    return !*text || text[strlen(text) - 1] == '\n';
}

static bool cannot(const struct ending *e)
{
    return WIFEXITED(e->status) && WEXITSTATUS(e->status) == CANNOT &&
           is_message(e->text[ERR]) &&
           (!getenv("ALLOC_LINES") || whole_lines(e->text[OUT]));
}

static void judge(const struct ending *e, const struct ending *wanted, long n, bool once)
{
    const char *command = getenv("ALLOC_CHECK");
    char line[1024];
    if (!same(e, wanted) && !cannot(e))
        printf("%s %ld: %s %d; standard error: %.300s\n", once ? "only" : "from", n,
               WIFEXITED(e->status) ? "status" : "signal",
               WIFEXITED(e->status) ? WEXITSTATUS(e->status) : WTERMSIG(e->status),
               e->text[ERR]);
    fflush(stdout);
    if (!command) return;
    snprintf(line, sizeof line, "%s %s", command,
             e->status == wanted->status ? "undisturbed" : "failed");
    if (system(line)) printf("(%s %ld)\n", once ? "only" : "from", n);
}

static long number(const char *name)
{
    const char *text = getenv(name);
    return text ? atol(text) : 1;
}

static struct program program;

static int run_all(int argc, char **argv, char **environment)
{
    static struct ending wanted, got;
    const long every = number("ALLOC_EVERY"), parts = number("ALLOC_PARTS");
    unsetenv("LD_PRELOAD"); /* not for what the program runs */
    program.argc = argc;
    program.argv = argv;
    program.environment = environment;
    for (int i = 0; i < STREAMS; i++)
        program.file[i] = memfd_create("stream", MFD_CLOEXEC);
    allocations = mmap(NULL, sizeof *allocations, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (allocations == MAP_FAILED) abort();
    program_run(&wanted, &program, 0, true);
    judge(&wanted, &wanted, 0, true);
    if (wanted.status) printf("undisturbed, it fails: %.300s\n", wanted.text[ERR]);
    for (int once = 0; once < 2; once++) {
        long n = 0;
        do {
            n += n < every ? 1 : 1 + n / parts;
            program_run(&got, &program, n, once);
            judge(&got, &wanted, n, once);
        } while (*allocations >= n);
        if (n == 1) printf("no allocation is seen\n");
    }
    return 0;
}

/* What starts main() in GNU's C library. */
int __libc_start_main(int (*run)(int, char **, char **), int argc, char **argv,
                      void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
                      void *stack_end)
{
    int (*start)(int (*)(int, char **, char **), int, char **, void (*)(void),
                 void (*)(void), void (*)(void), void *);
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    program.run = run;
    return start(getenv("ALLOC_EVERY") ? run_all : run, argc, argv, init, fini,
                 loader_fini, stack_end);
}
