// Threads, mutexes, conditions and once: POSIX threads under our names, with failures as statuses.
#ifndef WF_BASE_THREAD_H
#define WF_BASE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"

typedef struct wf_thread {
    pthread_t handle;
    bool is_started;
} wf_thread;

typedef pthread_mutex_t wf_mutex;
typedef pthread_cond_t wf_cond;
typedef pthread_once_t wf_once;
#define WF_MUTEX_INIT PTHREAD_MUTEX_INITIALIZER
#define WF_ONCE_INIT PTHREAD_ONCE_INIT

// Starts run(arg). Signals stay with the threads of the program: the new thread blocks them all, so
// that an interrupt always reaches the one that asked for it. The result of run is ignored.
weft_status wf_thread_start(wf_thread *out_thread, void *(*run)(void *), void *arg,
                            weft_error *err);
// Waits for the end. Accepts a thread that was never started (zeroed).
void wf_thread_join(wf_thread *thread);
// The position-th of the processors that the calling thread may run on, and the one that it runs on now;
// -1: there is none, or the system does not say.
int32_t wf_thread_processor_at(int32_t position);
int32_t wf_thread_processor(void);
// Asks the system to keep a started thread on a processor. A wish: false when refused.
bool wf_thread_pin(wf_thread *thread, int32_t processor);
// Processors that this process may run on, at least 1.
int32_t wf_thread_n_processors(void);

weft_status wf_mutex_init(wf_mutex *mutex, weft_error *err);
void wf_mutex_deinit(wf_mutex *mutex);
void wf_mutex_lock(wf_mutex *mutex);
void wf_mutex_unlock(wf_mutex *mutex);

weft_status wf_cond_init(wf_cond *cond, weft_error *err);
void wf_cond_deinit(wf_cond *cond);
void wf_cond_wait(wf_cond *cond, wf_mutex *mutex);
void wf_cond_signal(wf_cond *cond);
void wf_cond_broadcast(wf_cond *cond);

// Sleeps while *word is value, until somebody calls wake. May return early: look again.
void wf_word_wait(_Atomic uint32_t *word, uint32_t value);
// Wakes all who wait for the word; whoever changed it calls this afterwards.
void wf_word_wake(_Atomic uint32_t *word);

// Runs init exactly once; others wait until it is done.
void wf_once_run(wf_once *once, void (*init)(void));

#endif
