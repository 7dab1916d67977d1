/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to preload, which runs a program repeatedly.  In each run another memory
   allocation fails, or another system call of the kind in ALLOC_CALL (see the table
   below).  It prints how a run ended if that is not allowed.  Only allocations and calls
   from main() on count: those of the loader and of constructors are not the program's.
   Calls about files of the system (/proc and the like), and writes to standard error,
   succeed.  In a run the n-th one fails, or all from the n-th on; n is 1, 2, ... up to
   ALLOC_EVERY, and then grows by one part in ALLOC_PARTS, until a run needs fewer.

   A run must end in one of two ways:
   - like a run without failures, with the same status, standard output and standard
     error;
   - with status 3, one line that begins with "bitcut: " (or several, if ALLOC_SETS is
     set: one for each set), and complete lines on standard output if ALLOC_LINES is set.

   After each run the shell runs ALLOC_CHECK, if it is set, followed by the word
   "undisturbed" or "failed"; its output is an error, too.  The clock stands still, since
   speeds are printed. */
#define _GNU_SOURCE /* RTLD_NEXT, memfd_create() */

#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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

/* Count what may fail: whether it does, if the n-th does, or all from it on. */
static bool is_failure(long n, bool once)
{
    const long i = atomic_fetch_add(allocations, 1) + 1;
    return n && i >= n && (!once || i == n);
}

static bool fails(void)
{
    if (!first_failure || !is_failure(first_failure, only_first)) return false;
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

/* --- system calls ------------------------------------------------------------------ */

enum { NUMBERS_MAX = 4, CANNOT_LISTEN = 99 };

/* Kinds of calls, and which of their arguments is what they are about. */
static const struct call {
    const char *name;
    struct {
        int number;
        int path, file; /* 1 + which argument; 0: none */
    } is[NUMBERS_MAX];
} calls[] = {
#ifdef SYS_open
    { "open", { { SYS_openat, 2, 0 }, { SYS_open, 1, 0 } } },
    { "rename", { { SYS_rename, 1, 0 }, { SYS_renameat, 2, 0 }, { SYS_renameat2, 2, 0 } } },
    { "stat", { { SYS_newfstatat, 2, 0 }, { SYS_stat, 1, 0 } } },
#else
    { "open", { { SYS_openat, 2, 0 } } },
    { "rename", { { SYS_renameat2, 2, 0 } } },
    { "stat", { { SYS_newfstatat, 2, 0 } } },
#endif
    { "readdir", { { SYS_getdents64, 0, 1 } } },
    { "read", { { SYS_read, 0, 1 } } },
    { "write", { { SYS_write, 0, 1 }, { SYS_writev, 0, 1 } } },
    { "fsync", { { SYS_fsync, 0, 1 } } },
    { "close", { { SYS_close, 0, 1 } } },
    { 0 }
};

/* The kind that ALLOC_CALL names, as NAME:ERROR. */
static const struct call *call_asked(int *error)
{
    const char *const text = getenv("ALLOC_CALL");
    const char *const colon = text ? strchr(text, ':') : NULL;
    const struct call *c = calls;
    if (!colon) return NULL;
    *error = atoi(colon + 1);
    while (c->name && strncmp(c->name, text, (size_t)(colon - text)) != 0) c++;
    return c->name ? c : NULL;
}

/* Have this process's calls of that kind wait for what a listener decides: the listener, or
   -1. */
static int calls_listen(const struct call *c)
{
    enum { RULES_MAX = 3 + NUMBERS_MAX };
    struct sock_filter rule[RULES_MAX] = { BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
    unsigned short count = 0, n = 1;
    while (count < NUMBERS_MAX && (c->is[count].path || c->is[count].file)) count++;
    for (unsigned short i = 0; i < count; i++)
        rule[n++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (unsigned)c->is[i].number,
            (unsigned char)(count - i), 0);
    rule[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    rule[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    const struct sock_fprog filter = { n, rule };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
}

/* A descriptor, from one process to another. */
union passed {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
};

static void pass_on(int socket, int descriptor)
{
    union passed passed = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)),
                                      .cmsg_level = SOL_SOCKET,
                                      .cmsg_type = SCM_RIGHTS } };
    struct iovec byte = { "", 1 };
    const struct msghdr message = { .msg_iov = &byte,
                                    .msg_iovlen = 1,
                                    .msg_control = &passed,
                                    .msg_controllen = sizeof passed };
    memcpy(CMSG_DATA(&passed.head), &descriptor, sizeof descriptor);
    if (descriptor < 0 || sendmsg(socket, &message, 0) != 1) _exit(CANNOT_LISTEN);
}

static int take_over(int socket)
{
    union passed passed;
    char byte;
    struct iovec bytes = { &byte, 1 };
    struct msghdr message = { .msg_iov = &bytes,
                              .msg_iovlen = 1,
                              .msg_control = &passed,
                              .msg_controllen = sizeof passed };
    int descriptor = -1;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1)
        memcpy(&descriptor, CMSG_DATA(&passed.head), sizeof descriptor);
    return descriptor;
}

/* Whether a call is about a file of the system, or standard error. */
static bool is_of_system(const struct call *c, const struct seccomp_notif *call)
{
    static const char *const folders[] = { "/proc/", "/sys/", "/etc/", "/dev/", "pipe:" };
    char path[4096] = "", name[64];
    int i = 0;
    while (c->is[i].number != call->data.nr) i++;
    if (c->is[i].path) {
        struct iovec to = { path, sizeof path - 1 },
                     from = { (void *)(uintptr_t)call->data.args[c->is[i].path - 1], 256 };
        if (process_vm_readv((pid_t)call->pid, &to, 1, &from, 1, 0) < 0) return true;
    } else {
        const int file = (int)call->data.args[c->is[i].file - 1];
        snprintf(name, sizeof name, "/proc/%u/fd/%d", call->pid, file);
        if (file == STDERR_FILENO || readlink(name, path, sizeof path - 1) < 0) return true;
    }
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++)
        if (!strncmp(path, folders[f], strlen(folders[f]))) return true;
    return false;
}

/* Decide on all calls of a process and its children, until the last of them ends. */
static void calls_decide(int listener, const struct call *c, int error, long n, bool once)
{
    struct pollfd ready = { listener, POLLIN, 0 };
    while (poll(&ready, 1, -1) > 0 && ready.revents & POLLIN) {
        struct seccomp_notif call = { 0 };
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call)) continue;
        struct seccomp_notif_resp answer = { .id = call.id,
                                             .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
        if (!is_of_system(c, &call) && is_failure(n, once))
            answer = (struct seccomp_notif_resp){ .id = call.id, .error = -error };
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
    close(listener);
}

/* --- one run ------------------------------------------------------------------------ */

enum { OUT, ERR, STREAMS };
enum { TEXT_MAX = 1 << 20, SECONDS = 60, CANNOT = 3 };

struct program {
    int (*run)(int argc, char **argv, char **environment);
    int argc;
    char **argv, **environment;
    int file[STREAMS]; /* of no name, for what it prints */
};

struct ending {
    int status; /* as waitpid() has it */
    char text[STREAMS][TEXT_MAX];
};

static void text_read(char text[TEXT_MAX], int file)
{
    const ssize_t length = pread(file, text, TEXT_MAX - 1, 0);
    text[length > 0 ? length : 0] = 0;
}

static void program_run(struct ending *e, const struct program *p, long n, bool once)
{
    *allocations = 0;
    for (int i = 0; i < STREAMS; i++)
        if (ftruncate(p->file[i], 0) || lseek(p->file[i], 0, SEEK_SET)) abort();
    int error = 0, pair[2];
    const struct call *const c = call_asked(&error);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) abort();
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        for (int i = 0; i < STREAMS; i++) dup2(p->file[i], i + 1);
        close(pair[0]);
        only_first = once;
        if (c) pass_on(pair[1], calls_listen(c));
        else first_failure = n;
        exit(p->run(p->argc, p->argv, p->environment));
    }
    close(pair[1]);
    const int listener = c ? take_over(pair[0]) : -1;
    if (listener >= 0) calls_decide(listener, c, error, n, once);
    close(pair[0]);
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
        if (n == 1) printf("nothing that could fail is seen\n");
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
