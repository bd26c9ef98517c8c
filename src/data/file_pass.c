// Looks at every file of a list before a training begins.
#include <string.h>

#include "base/thread.h"
#include "data/file_list.h"

// So many bad files are named; the others are counted.
#define NAMED_MAX 10
#define THREADS_MAX 16
#define KEPT_MAX_BYTES ((size_t)1 << 30)

typedef struct {
    const wf_file_pass *pass;
    wf_mutex mutex; // guards what follows, and is_bad of the files
    size_t next;
    size_t n_bad;
    size_t first_bad; // the bad file that is first in the list, whoever found it
    weft_error first;
    weft_status status; // of what is no file's fault
    weft_error err;
} file_pass;

static bool is_fault_of_file(weft_status status)
{
    return status == WEFT_ERR_FORMAT || status == WEFT_ERR_FILE || status == WEFT_ERR_UNSUPPORTED ||
           status == WEFT_ERR_SHAPE;
}

static void take_failure(file_pass *p, size_t i, weft_status status, const weft_error *err)
{
    if (!is_fault_of_file(status)) {
        p->status = status;
        p->err = *err;
        return;
    }
    p->pass->list->v[i].is_bad = true;
    if (p->n_bad == 0 || i < p->first_bad) {
        p->first_bad = i;
        p->first = *err;
    }
    p->n_bad++;
}

static void *run_thread(void *arg)
{
    file_pass *p = arg;
    const wf_file_pass *pass = p->pass;
    wf_mutex_lock(&p->mutex);
    while (p->next < pass->list->n && p->status == WEFT_OK) {
        const size_t i = p->next++;
        weft_error err = {0};
        wf_mutex_unlock(&p->mutex);
        uint8_t *dst = pass->kept ? pass->kept + i * pass->sample_bytes : NULL;
        const weft_status status = pass->read(pass->user, i, dst, &err);
        wf_mutex_lock(&p->mutex);
        if (status != WEFT_OK)
            take_failure(p, i, status, &err);
    }
    wf_mutex_unlock(&p->mutex);
    return NULL;
}

static weft_status run_threads(file_pass *p, weft_error *err)
{
    wf_thread threads[THREADS_MAX] = {0};
    int32_t n = wf_thread_n_processors();
    n = n < THREADS_MAX ? n : THREADS_MAX;
    WEFT_TRY(wf_mutex_init(&p->mutex, err));
    // This thread is one of them; where the system gives no more, it is the only one.
    for (int32_t i = 1; i < n; i++) {
        if (wf_thread_start(&threads[i], run_thread, p, NULL) != WEFT_OK)
            break;
    }
    run_thread(p);
    for (int32_t i = 1; i < n; i++)
        wf_thread_join(&threads[i]);
    wf_mutex_deinit(&p->mutex);
    if (p->status != WEFT_OK && err)
        *err = p->err;
    return p->status;
}

static weft_status fail_bad(const file_pass *p, weft_error *err)
{
    const wf_file_list *list = p->pass->list;
    static const char rest[] = "files are bad, on_bad: skip leaves them out";
    const size_t line = list->v[p->first_bad].line;
    if (line)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: line %zu: %s (%zu of %zu %s)", list->path, line,
                  p->first.message, p->n_bad, list->n, rest);
    WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s (%zu of %zu %s)", p->first.message, p->n_bad, list->n,
              rest);
}

// Takes the bad files out of the list, and tells which they are.
static weft_status skip_bad(const file_pass *p, const wf_reader_options *o, weft_error *err)
{
    const wf_file_pass *pass = p->pass;
    wf_file_list *list = pass->list;
    size_t kept = 0, named = 0;
    for (size_t i = 0; i < list->n; i++) {
        weft_error why = {0};
        if (list->v[i].is_bad) {
            if (named++ < NAMED_MAX && pass->read(pass->user, i, NULL, &why) != WEFT_OK)
                wf_reader_note(o, WEFT_LOG_WARNING, "left out: %s", why.message);
            continue;
        }
        if (pass->kept && kept < i)
            memcpy(pass->kept + kept * pass->sample_bytes, pass->kept + i * pass->sample_bytes,
                   pass->sample_bytes);
        list->v[kept++] = list->v[i];
    }
    wf_reader_note(o, WEFT_LOG_WARNING, "%s: %zu of %zu files are bad and left out", list->path,
                   p->n_bad, list->n);
    list->n = kept;
    if (kept == 0)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: every file is bad, the first: %s", list->path,
                  p->first.message);
    return WEFT_OK;
}

weft_status wf_file_pass_keep(wf_file_pass *pass, const wf_allocator *a, weft_error *err)
{
    size_t bytes;
    pass->kept = NULL;
    if (!wf_mul_size(pass->sample_bytes, pass->list->n, &bytes) || bytes > KEPT_MAX_BYTES)
        return WEFT_OK;
    return wf_alloc(a, bytes, 1, &pass->kept, err);
}

weft_status wf_file_pass_run(const wf_file_pass *pass, const wf_reader_options *o,
                             int64_t *inout_n_bad, weft_error *err)
{
    file_pass p = {.pass = pass, .status = WEFT_OK};
    WEFT_TRY(run_threads(&p, err));
    *inout_n_bad += (int64_t)p.n_bad;
    if (p.n_bad == 0)
        return WEFT_OK;
    return o->is_skipping_bad ? skip_bad(&p, o, err) : fail_bad(&p, err);
}
