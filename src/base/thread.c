// POSIX threads under our names. Lock and wait return nothing: on initialised objects they fail only
// when the caller breaks their rules.
#include "base/thread.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

weft_status wf_thread_start(wf_thread *out_thread, void *(*run)(void *), void *arg, weft_error *err)
{
    sigset_t all, before;
    memset(out_thread, 0, sizeof *out_thread);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&out_thread->handle, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code) {
        WEFT_FAIL(err, WEFT_ERR_SYSTEM, "thread: the system gives no more threads (%s)",
                  strerror(code));
    }
    out_thread->is_started = true;
    return WEFT_OK;
}

void wf_thread_join(wf_thread *thread)
{
    if (!thread->is_started)
        return;
    pthread_join(thread->handle, NULL);
    thread->is_started = false;
}

#ifdef __linux__
int32_t wf_thread_processor_at(int32_t position)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) || position < 0)
        return -1;
    for (int32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET((size_t)cpu, &allowed) && position-- == 0)
            return cpu;
    }
    return -1;
}

int32_t wf_thread_processor(void)
{
    return (int32_t)sched_getcpu();
}

bool wf_thread_pin(wf_thread *thread, int32_t processor)
{
    cpu_set_t one;
    if (processor < 0 || processor >= CPU_SETSIZE)
        return false;
    CPU_ZERO(&one);
    CPU_SET((size_t)processor, &one);
    return pthread_setaffinity_np(thread->handle, sizeof one, &one) == 0;
}

int32_t wf_thread_n_processors(void)
{
    cpu_set_t allowed;
    if (!sched_getaffinity(0, sizeof allowed, &allowed) && CPU_COUNT(&allowed) > 0)
        return (int32_t)CPU_COUNT(&allowed);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int32_t)n : 1;
}
#else
int32_t wf_thread_processor_at(int32_t position)
{
    (void)position;
    return -1;
}

int32_t wf_thread_processor(void)
{
    return -1;
}

bool wf_thread_pin(wf_thread *thread, int32_t processor)
{
    (void)thread, (void)processor;
    return false;
}

int32_t wf_thread_n_processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int32_t)n : 1;
}
#endif

weft_status wf_mutex_init(wf_mutex *mutex, weft_error *err)
{
    int code = pthread_mutex_init(mutex, NULL);
    if (code)
        WEFT_FAIL(err, WEFT_ERR_SYSTEM, "mutex: the system gives no more (%s)", strerror(code));
    return WEFT_OK;
}

void wf_mutex_deinit(wf_mutex *mutex)
{
    pthread_mutex_destroy(mutex);
}
void wf_mutex_lock(wf_mutex *mutex)
{
    pthread_mutex_lock(mutex);
}
void wf_mutex_unlock(wf_mutex *mutex)
{
    pthread_mutex_unlock(mutex);
}

weft_status wf_cond_init(wf_cond *cond, weft_error *err)
{
    int code = pthread_cond_init(cond, NULL);
    if (code)
        WEFT_FAIL(err, WEFT_ERR_SYSTEM, "condition: the system gives no more (%s)", strerror(code));
    return WEFT_OK;
}

void wf_cond_deinit(wf_cond *cond)
{
    pthread_cond_destroy(cond);
}
void wf_cond_wait(wf_cond *cond, wf_mutex *mutex)
{
    pthread_cond_wait(cond, mutex);
}
void wf_cond_signal(wf_cond *cond)
{
    pthread_cond_signal(cond);
}
void wf_cond_broadcast(wf_cond *cond)
{
    pthread_cond_broadcast(cond);
}

#ifdef __linux__
void wf_word_wait(_Atomic uint32_t *word, uint32_t value)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}
void wf_word_wake(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}
#else
// POSIX has no such call: short naps.
void wf_word_wait(_Atomic uint32_t *word, uint32_t value)
{
    const struct timespec nap = {0, 50000};
    if (atomic_load(word) == value)
        (void)nanosleep(&nap, NULL);
}
void wf_word_wake(_Atomic uint32_t *word)
{
    (void)word;
}
#endif

void wf_once_run(wf_once *once, void (*init)(void))
{
    pthread_once(once, init);
}
