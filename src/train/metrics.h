// What an evaluation counts, by task: classes, next tokens, numbers. All counts are integers; sums are f64,
// over samples in order and elements ascending: one value on every device. Stage: train.
#ifndef WF_TRAIN_METRICS_H
#define WF_TRAIN_METRICS_H

#include "train/trainer.h"

// Classes above this have no confusion matrix and nothing that comes of it.
#define WF_METRICS_MAX_CLASSES 1024
#define WF_METRICS_TOP 5

// A batch as the evaluating program gives it.
typedef struct wf_metrics_batch {
    const float *prediction;  // [rows,classes,inner], or [n_values]
    const int32_t *predicted; // [rows,inner]; NULL where there are no classes
    const int32_t *labels;    // [rows,inner]; likewise
    const float *target;      // [n_values]; NULL where there are classes
    int64_t n_rows, n_inner, n_values;
} wf_metrics_batch;

typedef struct wf_metrics {
    wf_allocator allocator;
    int64_t n_classes; // 0: numbers
    int64_t n_items, n_right, n_top;
    int64_t n_counted;  // items whose label is a class: not those that a loss ignores
    int64_t *confusion; // [label,predicted]; NULL above WF_METRICS_MAX_CLASSES
    // Every score and label, for areas under curves; NULL where they are not wanted or too many.
    float *scores; // [n_items,n_classes]
    int32_t *labels;
    size_t scores_capacity, labels_capacity;
    // Numbers.
    double sum_absolute, sum_square, sum_target, sum_target_square;
    // By class, once finished; NaN where a class has no such value.
    double *precision, *recall, *f1, *iou, *auroc;
} wf_metrics;

weft_status wf_metrics_init(wf_metrics *m, const wf_allocator *a, int64_t n_classes,
                            bool wants_auroc, weft_error *err);
weft_status wf_metrics_add(wf_metrics *m, const wf_metrics_batch *batch, weft_error *err);
weft_status wf_metrics_finish(wf_metrics *m, weft_error *err);
// Accepts a zeroed one.
void wf_metrics_deinit(wf_metrics *m);
// The mean over the classes that have a value; NaN where none has.
double wf_metrics_mean(const wf_metrics *m, const double *by_class);
// Twice the pairs of a sample of the class and one of the others where the first has the greater score, plus
// those of equal scores, over twice all pairs. NaN without both.
double wf_metrics_area(const float *scores, const int32_t *labels, int64_t n, int64_t n_classes,
                       int32_t class_idx, void *room);
#define WF_METRICS_AREA_ROOM(n) ((size_t)(n) * sizeof(struct wf_metrics_scored))
struct wf_metrics_scored {
    float score;
    int32_t is_of_class;
};

// Loss, accuracy and, where metrics is not NULL, the rest; metrics is initialised here.
weft_status wf_evaluate_metrics(wf_program_cache *programs, const wf_split *split, int64_t batch,
                                int32_t n_threads, double *out_loss, double *out_accuracy,
                                wf_metrics *out_metrics, weft_error *err);

// <dir>/confusion.png: rows are what the data says, columns what the network says, darker is more of a row.
// Nothing where there is no matrix.
weft_status wf_confusion_draw(const wf_metrics *m, const weft_recipe *recipe, const char *dir,
                              weft_error *err);

#endif
