/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

#include "analysis/run/worker.h"

#include "lib/base/threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>

enum { STACK_BYTES = 8 << 20 };

/* A piece of work: begun by the owner of `turn`, done by the worker. */
static struct {
    pthread_mutex_t turn; /* callers, one after the other           */
    pthread_mutex_t lock; /* protects the following members */
    pthread_cond_t moved; /* signalled when they change */
    bool started, failed; /* the worker                             */
    bool trying;          /* the number of possible threads is being tried */
    int threads_most;     /* that number */
    void (*work)(void *context, int threads);
    void *context;
    int threads;
    bool waiting, done;
} worker = { .turn = PTHREAD_MUTEX_INITIALIZER,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .moved = PTHREAD_COND_INITIALIZER };

static void *idle(void *unused)
{
    pthread_mutex_lock(&worker.lock);
    while (worker.trying) pthread_cond_wait(&worker.moved, &worker.lock);
    pthread_mutex_unlock(&worker.lock);
    return unused;
}

/* The number of threads that can exist at a time, up to the wanted number: OpenMP ends
   the process if one cannot be started. */
static int threads_possible(int wanted)
{
    pthread_t thread[THREADS_MAX];
    int count = 0;
    worker.trying = true;
    while (count + 1 < wanted && pthread_create(&thread[count], NULL, idle, NULL) == 0)
        count++;
    pthread_mutex_lock(&worker.lock);
    worker.trying = false;
    pthread_cond_broadcast(&worker.moved);
    pthread_mutex_unlock(&worker.lock);
    for (int i = 0; i < count; i++) pthread_join(thread[i], NULL);
    return count + 1;
}

static void *serve(void *unused)
{
    pthread_mutex_lock(&worker.lock);
    for (;;) {
        while (!worker.waiting) pthread_cond_wait(&worker.moved, &worker.lock);
        const int wanted = threads_for(worker.threads, SIZE_MAX);
        pthread_mutex_unlock(&worker.lock);
        if (!worker.threads_most) worker.threads_most = threads_possible(wanted);
        const int threads = wanted < worker.threads_most ? wanted : worker.threads_most;
        worker.work(worker.context, threads);
        pthread_mutex_lock(&worker.lock);
        worker.waiting = false;
        worker.done = true;
        pthread_cond_broadcast(&worker.moved);
    }
    return unused;
}

/* A child has none of the parent's threads, and locks in an arbitrary state. */
static void forget(void)
{
    pthread_mutex_init(&worker.turn, NULL);
    pthread_mutex_init(&worker.lock, NULL);
    pthread_cond_init(&worker.moved, NULL);
    worker.started = worker.failed = worker.waiting = worker.done = false;
    worker.threads_most = 0;
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, forget); }

/* Without any of the program's signals. */
static bool start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    pthread_once(&once, watch_forks);
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const bool good = pthread_create(&thread, &attributes, serve, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return good;
}

void worker_call(void (*work)(void *context, int threads), void *context, int threads)
{
    pthread_mutex_lock(&worker.turn);
    if (!worker.started && !worker.failed) {
        worker.started = start();
        worker.failed = !worker.started;
    }
    if (worker.failed) {
        pthread_mutex_unlock(&worker.turn);
        work(context, 1);
        return;
    }
    pthread_mutex_lock(&worker.lock);
    worker.work = work;
    worker.context = context;
    worker.threads = threads;
    worker.done = false;
    worker.waiting = true;
    pthread_cond_broadcast(&worker.moved);
    while (!worker.done) pthread_cond_wait(&worker.moved, &worker.lock);
    pthread_mutex_unlock(&worker.lock);
    pthread_mutex_unlock(&worker.turn);
}
