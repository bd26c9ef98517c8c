// Counts of an evaluation and what comes of them. In: batches of predictions and targets. Out: metrics by
// class and in all.
#include "train/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Scores kept for areas under curves: 256 MiB.
#define MAX_SCORES ((int64_t)1 << 26)

weft_status wf_metrics_init(wf_metrics *m, const wf_allocator *a, int64_t n_classes,
                            bool wants_auroc, weft_error *err)
{
    memset(m, 0, sizeof *m);
    m->allocator = *a;
    m->n_classes = n_classes;
    if (n_classes == 0 || n_classes > WF_METRICS_MAX_CLASSES)
        return WEFT_OK;
    const size_t n = (size_t)n_classes;
    double **const by_class[] = {&m->precision, &m->recall, &m->f1, &m->iou, &m->auroc};
    WEFT_TRY(wf_alloc(a, n * n, sizeof *m->confusion, &m->confusion, err));
    for (size_t i = 0; i < sizeof by_class / sizeof by_class[0]; i++) {
        WEFT_TRY(wf_alloc(a, n, sizeof(double), by_class[i], err));
        for (size_t c = 0; c < n; c++) {
            (*by_class[i])[c] = (double)NAN;
        }
    }
    if (wants_auroc)
        return wf_array_reserve(a, &m->labels, &m->labels_capacity, 1, sizeof *m->labels, err);
    return WEFT_OK;
}

void wf_metrics_deinit(wf_metrics *m)
{
    void *const all[] = {m->confusion, m->scores, m->labels, m->precision,
                         m->recall,    m->f1,     m->iou,    m->auroc};
    for (size_t i = 0; m->allocator.reallocate && i < sizeof all / sizeof all[0]; i++) {
        wf_free(&m->allocator, all[i]);
    }
    memset(m, 0, sizeof *m);
}

// ---- batches
// Whether fewer than WF_METRICS_TOP classes come before the label: greater, or equal and lower.
static bool is_at_top(const float *scores, int64_t n_classes, int64_t stride, int64_t label)
{
    const float own = scores[label * stride];
    int64_t n_before = 0;
    for (int64_t c = 0; c < n_classes; c++) {
        const float other = scores[c * stride];
        n_before += other > own || (other == own && c < label);
    }
    return n_before < WF_METRICS_TOP;
}

// Too many: none is kept.
static void forget_scores(wf_metrics *m)
{
    wf_free(&m->allocator, m->scores);
    wf_free(&m->allocator, m->labels);
    m->scores = NULL;
    m->labels = NULL;
}

static weft_status keep_scores(wf_metrics *m, const wf_metrics_batch *b, weft_error *err)
{
    const int64_t items = m->n_items + b->n_rows;
    if (!m->labels)
        return WEFT_OK;
    if (items * m->n_classes > MAX_SCORES || b->n_inner != 1) {
        forget_scores(m);
        return WEFT_OK;
    }
    WEFT_TRY(wf_array_reserve(&m->allocator, &m->scores, &m->scores_capacity,
                              (size_t)(items * m->n_classes), sizeof *m->scores, err));
    WEFT_TRY(wf_array_reserve(&m->allocator, &m->labels, &m->labels_capacity, (size_t)items,
                              sizeof *m->labels, err));
    memcpy(m->scores + m->n_items * m->n_classes, b->prediction,
           (size_t)(b->n_rows * m->n_classes) * sizeof *m->scores);
    memcpy(m->labels + m->n_items, b->labels, (size_t)b->n_rows * sizeof *m->labels);
    return WEFT_OK;
}

static void count_classes(wf_metrics *m, const wf_metrics_batch *b)
{
    for (int64_t r = 0; r < b->n_rows; r++) {
        for (int64_t s = 0; s < b->n_inner; s++) {
            const int32_t label = b->labels[r * b->n_inner + s];
            const int32_t said = b->predicted[r * b->n_inner + s];
            const float *scores = b->prediction + r * m->n_classes * b->n_inner + s;
            if (label < 0 || label >= m->n_classes || said < 0 || said >= m->n_classes)
                continue; // ignored: the program refuses what is neither
            m->n_counted++;
            m->n_right += label == said;
            m->n_top += is_at_top(scores, m->n_classes, b->n_inner, label);
            if (m->confusion)
                m->confusion[label * m->n_classes + said]++;
        }
    }
    m->n_items += b->n_rows * b->n_inner;
}

static void add_values(wf_metrics *m, const wf_metrics_batch *b)
{
    for (int64_t i = 0; i < b->n_values; i++) {
        const double t = (double)b->target[i], d = (double)b->prediction[i] - t;
        m->sum_absolute += fabs(d);
        m->sum_square += d * d;
        m->sum_target += t;
        m->sum_target_square += t * t;
    }
    m->n_items += b->n_values;
}

weft_status wf_metrics_add(wf_metrics *m, const wf_metrics_batch *batch, weft_error *err)
{
    if (m->n_classes == 0) {
        add_values(m, batch);
        return WEFT_OK;
    }
    WEFT_TRY(keep_scores(m, batch, err));
    count_classes(m, batch);
    return WEFT_OK;
}

// ---- what comes of the counts
static double ratio(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : (double)NAN;
}

static int by_score(const void *a, const void *b)
{
    const float x = ((const struct wf_metrics_scored *)a)->score;
    const float y = ((const struct wf_metrics_scored *)b)->score;
    return (x > y) - (x < y);
}

double wf_metrics_area(const float *scores, const int32_t *labels, int64_t n, int64_t n_classes,
                       int32_t class_idx, void *room)
{
    struct wf_metrics_scored *list = room;
    int64_t twice = 0, n_of = 0, n_below = 0;
    for (int64_t i = 0; i < n; i++) {
        list[i].score = scores[i * n_classes + class_idx];
        list[i].is_of_class = labels[i] == class_idx;
        n_of += list[i].is_of_class;
    }
    if (n_of == 0 || n_of == n)
        return (double)NAN;
    qsort(list, (size_t)n, sizeof *list, by_score);
    for (int64_t i = 0; i < n;) {
        int64_t end = i, n_own = 0;
        for (; end < n && list[end].score == list[i].score; end++) {
            n_own += list[end].is_of_class;
        }
        if (end == i)
            end++; // NaN equals nothing, itself included
        const int64_t n_others = end - i - n_own;
        twice += n_own * (2 * n_below + n_others);
        n_below += n_others;
        i = end;
    }
    return (double)twice / (2.0 * (double)n_of * (double)(n - n_of));
}

static weft_status find_areas(wf_metrics *m, weft_error *err)
{
    void *room;
    if (!m->scores)
        return WEFT_OK;
    WEFT_TRY(wf_alloc(&m->allocator, (size_t)m->n_items + 1, sizeof(struct wf_metrics_scored),
                      &room, err));
    for (int64_t c = 0; c < m->n_classes; c++) {
        m->auroc[c] =
            wf_metrics_area(m->scores, m->labels, m->n_items, m->n_classes, (int32_t)c, room);
    }
    wf_free(&m->allocator, room);
    return WEFT_OK;
}

weft_status wf_metrics_finish(wf_metrics *m, weft_error *err)
{
    const int64_t n = m->n_classes;
    for (int64_t c = 0; c < n && m->confusion; c++) {
        int64_t n_said = 0, n_are = 0;
        const int64_t n_right = m->confusion[c * n + c];
        for (int64_t k = 0; k < n; k++) {
            n_said += m->confusion[k * n + c];
            n_are += m->confusion[c * n + k];
        }
        m->precision[c] = ratio(n_right, n_said);
        m->recall[c] = ratio(n_right, n_are);
        m->f1[c] = ratio(2 * n_right, n_said + n_are);
        m->iou[c] = ratio(n_right, n_said + n_are - n_right);
    }
    return find_areas(m, err);
}

double wf_metrics_mean(const wf_metrics *m, const double *by_class)
{
    double sum = 0.0;
    int64_t n = 0;
    for (int64_t c = 0; by_class && c < m->n_classes; c++) {
        if (isnan(by_class[c]))
            continue;
        sum += by_class[c];
        n++;
    }
    return n > 0 ? sum / (double)n : (double)NAN;
}
