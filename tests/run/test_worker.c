/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that computes large products: called by many threads, in children of fork(),
   with signals, and where no thread can be started. */
#define _DEFAULT_SOURCE

#include "analysis/run/worker.h"
#include "lib/base/threads.h"
#include "tests/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#else
#define SANITIZED 0
#endif

struct job {
    int calls, threads;
    pthread_t thread;
};

static atomic_int inside, together;

/* One at a time.  Check's own macros lock: a child of fork() could not go on. */
static void work(void *context, int threads)
{
    struct job *const job = context;
    if (atomic_fetch_add(&inside, 1) != 0) together++;
    job->calls++;
    job->threads = threads;
    job->thread = pthread_self();
    atomic_fetch_sub(&inside, 1);
}

START_TEST(elsewhere)
{
    struct job job = { 0 }, other = { 0 };
    worker_call(work, &job, 3);
    ck_assert(job.calls == 1 && !pthread_equal(job.thread, pthread_self()));
    ck_assert(job.threads >= 1 && job.threads <= 3);
    worker_call(work, &other, 1);
    ck_assert(other.threads == 1 && pthread_equal(job.thread, other.thread));
    worker_call(work, &other, 0);
    ck_assert(other.threads >= 1 && other.threads <= THREADS_MAX);
}
END_TEST

static void *ask(void *context)
{
    struct job *const jobs = context;
    for (int i = 0; i < 50; i++) worker_call(work, &jobs[i], 1 + i % 3);
    return NULL;
}

START_TEST(many_callers)
{
    enum { CALLERS = 64 };
    static struct job jobs[CALLERS][50];
    pthread_t thread[CALLERS];
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, ask, jobs[i]), 0);
    for (int i = 0; i < CALLERS; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < CALLERS; i++)
        for (int j = 0; j < 50; j++) ck_assert_int_eq(jobs[i][j].calls, 1);
    ck_assert_int_eq(together, 0);
}
END_TEST

/* What a child exits with is 0 if all is well; a child that hangs is ended. */
static void check_child(pid_t process)
{
    int status;
    ck_assert_int_eq(waitpid(process, &status, 0), process);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                  "a child hangs, or is wrong: status 0x%x", (unsigned)status);
}

static int child_works(void)
{
    struct job job = { 0 };
    alarm(20);
    worker_call(work, &job, 2);
    return !(job.calls == 1 && !pthread_equal(job.thread, pthread_self()));
}

static atomic_bool over;

static void *keep_asking(void *unused)
{
    struct job job;
    while (!over) worker_call(work, &job, 2);
    return unused;
}

/* Children of a process whose worker is there, and in the midst of it.  A sanitizer's own
   locks do not survive that. */
START_TEST(children)
{
    if (SANITIZED) return;
    struct job job;
    pthread_t thread[3];
    worker_call(work, &job, 2);
    for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, keep_asking, NULL);
    for (int i = 0; i < test_cases(60, 1000); i++) {
        const pid_t process = fork();
        if (!process) _exit(child_works());
        check_child(process);
    }
    over = true;
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
}
END_TEST

/* --- signals ------------------------------------------------------------------------ */

static atomic_int signals_here, signals_there;
static pthread_t main_thread;

static void note(int number)
{
    (void)number;
    atomic_fetch_add(
        pthread_equal(pthread_self(), main_thread) ? &signals_here : &signals_there, 1);
}

static void work_and_kill(void *context, int threads)
{
    (void)context, (void)threads;
    kill(getpid(), SIGUSR1);
}

/* The caller has blocked it: the worker would be the one to take it. */
START_TEST(signals)
{
    struct sigaction action = { .sa_handler = note };
    struct job job;
    sigset_t one, before;
    main_thread = pthread_self();
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    worker_call(work, &job, 1); /* it begins without a mask of ours */
    pthread_sigmask(SIG_BLOCK, &one, &before);
    for (int i = 0; i < 100; i++) worker_call(work_and_kill, NULL, 1);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    ck_assert_int_eq(signals_there, 0);
    ck_assert_int_gt(signals_here, 0);
}
END_TEST

/* --- no threads ----------------------------------------------------------------------
 */

/* Where no thread can be started the caller computes, with one.  A sanitizer could not
   live there. */
START_TEST(no_threads)
{
    if (SANITIZED) return;
    const pid_t process = fork();
    if (!process) {
        struct rlimit limit;
        struct job job = { 0 };
        getrlimit(RLIMIT_AS, &limit);
        limit.rlim_cur = 1 << 20;
        setrlimit(RLIMIT_AS, &limit);
        worker_call(work, &job, 8);
        _exit(!(job.calls == 1 && job.threads == 1 &&
                pthread_equal(job.thread, pthread_self())));
    }
    check_child(process);
}
END_TEST

TEST_MAIN("worker", elsewhere, many_callers, children, signals, no_threads)
