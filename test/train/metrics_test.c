// Metrics of evaluations: counts by class, ranks, areas under curves against their definition, sums of
// numbers; what an evaluation of a run says of them.
#include "train/metrics.h"
#include "train/train_tools.h"

#include <math.h>

#define DIR_A TEMP("metrics-run")

static void begin(wf_metrics *m, int64_t n_classes, bool wants_auroc)
{
    const wf_allocator a = wf_allocator_default();
    assert_int_equal(wf_metrics_init(m, &a, n_classes, wants_auroc, NULL), WEFT_OK);
}

static void near(double got, double expected)
{
    if (!(fabs(got - expected) < 1e-12))
        fail_msg("%.15g, expected %.15g", got, expected);
}

// Labels 0 0 0 1 1 2, said 0 0 1 1 2 2.
static void classes_are_counted(void **state)
{
    static const int32_t labels[] = {0, 0, 0, 1, 1, 2}, said[] = {0, 0, 1, 1, 2, 2};
    static const int64_t confusion[] = {2, 1, 0, 0, 1, 1, 0, 0, 1};
    float scores[18] = {0};
    wf_metrics m;
    (void)state;
    for (int i = 0; i < 6; i++) {
        scores[3 * i + said[i]] = 1.0f;
    }
    const wf_metrics_batch b = {
        .prediction = scores, .predicted = said, .labels = labels, .n_rows = 6, .n_inner = 1};
    begin(&m, 3, false);
    assert_int_equal(wf_metrics_add(&m, &b, NULL), WEFT_OK);
    assert_int_equal(wf_metrics_finish(&m, NULL), WEFT_OK);
    assert_memory_equal(m.confusion, confusion, sizeof confusion);
    assert_int_equal(m.n_items, 6);
    assert_int_equal(m.n_right, 4);
    near(m.precision[0], 1.0);
    near(m.precision[1], 0.5);
    near(m.recall[0], 2.0 / 3.0);
    near(m.f1[1], 0.5);
    near(m.iou[2], 0.5);
    near(wf_metrics_mean(&m, m.precision), (1.0 + 0.5 + 0.5) / 3.0);
    assert_true(isnan(m.auroc[0]));
    wf_metrics_deinit(&m);
}

// A class that is neither said nor there has no value, and is not in the mean.
static void an_absent_class_has_no_value(void **state)
{
    static const int32_t labels[] = {0, 1}, said[] = {0, 1};
    static const float scores[] = {1, 0, 0, 0, 1, 0};
    wf_metrics m;
    (void)state;
    const wf_metrics_batch b = {
        .prediction = scores, .predicted = said, .labels = labels, .n_rows = 2, .n_inner = 1};
    begin(&m, 3, true);
    assert_int_equal(wf_metrics_add(&m, &b, NULL), WEFT_OK);
    assert_int_equal(wf_metrics_finish(&m, NULL), WEFT_OK);
    assert_true(isnan(m.precision[2]) && isnan(m.iou[2]) && isnan(m.auroc[2]));
    near(wf_metrics_mean(&m, m.f1), 1.0);
    near(wf_metrics_mean(&m, m.auroc), 1.0);
    wf_metrics_deinit(&m);
}

// A label that the loss ignores is no item of the matrix, nor of shares.
static void ignored_labels_do_not_count(void **state)
{
    static const int32_t labels[] = {0, -100, 1}, said[] = {0, 1, 0};
    static const float scores[] = {1, 0, 0, 1, 1, 0};
    wf_metrics m;
    (void)state;
    const wf_metrics_batch b = {
        .prediction = scores, .predicted = said, .labels = labels, .n_rows = 3, .n_inner = 1};
    begin(&m, 2, false);
    assert_int_equal(wf_metrics_add(&m, &b, NULL), WEFT_OK);
    assert_int_equal(m.n_counted, 2);
    assert_int_equal(m.n_right, 1);
    assert_int_equal(m.confusion[0] + m.confusion[1] + m.confusion[2] + m.confusion[3], 2);
    wf_metrics_deinit(&m);
}

// Eight classes: the label is fifth (in), sixth (out), fifth of equals by its place (in), sixth so (out).
static void five_at_the_top(void **state)
{
    static const float scores[] = {
        8, 7, 6, 5, 4, 3, 2, 1, //
        8, 7, 6, 5, 4, 3, 2, 1, //
        1, 1, 1, 1, 1, 1, 1, 1, //
        1, 1, 1, 1, 1, 1, 1, 1,
    };
    static const int32_t labels[] = {4, 5, 4, 5}, said[] = {0, 0, 0, 0};
    wf_metrics m;
    (void)state;
    const wf_metrics_batch b = {
        .prediction = scores, .predicted = said, .labels = labels, .n_rows = 4, .n_inner = 1};
    begin(&m, 8, false);
    assert_int_equal(wf_metrics_add(&m, &b, NULL), WEFT_OK);
    assert_int_equal(m.n_top, 2);
    wf_metrics_deinit(&m);
}

// Pixels: [1,2,3] scores, classes before places.
static void pixels_are_items(void **state)
{
    static const float scores[] = {9, 1, 5, 1, 9, 5};
    static const int32_t labels[] = {0, 1, 1}, said[] = {0, 1, 0};
    wf_metrics m;
    (void)state;
    const wf_metrics_batch b = {
        .prediction = scores, .predicted = said, .labels = labels, .n_rows = 1, .n_inner = 3};
    begin(&m, 2, true);
    assert_int_equal(wf_metrics_add(&m, &b, NULL), WEFT_OK);
    assert_int_equal(wf_metrics_finish(&m, NULL), WEFT_OK);
    assert_int_equal(m.n_items, 3);
    near(m.iou[0], 0.5);
    near(m.iou[1], 0.5);
    assert_true(isnan(m.auroc[1])); // not of pixels
    wf_metrics_deinit(&m);
}

// The definition, pair by pair, on scores with many ties.
static double area_by_pairs(const float *scores, const int32_t *labels, int64_t n,
                            int64_t n_classes, int32_t c)
{
    int64_t twice = 0, n_pairs = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < n; k++) {
            if (labels[i] != c || labels[k] == c)
                continue;
            const float a = scores[i * n_classes + c], b = scores[k * n_classes + c];
            twice += a > b ? 2 : a == b;
            n_pairs++;
        }
    }
    return (double)twice / (2.0 * (double)n_pairs);
}

static void areas_are_their_definition(void **state)
{
    enum { N = 200, C = 3 };
    static float scores[N * C];
    static int32_t labels[N];
    struct wf_metrics_scored room[N];
    uint32_t x = 12345;
    (void)state;
    for (int i = 0; i < N; i++) {
        for (int c = 0; c < C; c++) {
            x = x * 1664525u + 1013904223u;
            scores[C * i + c] = (float)(x >> 28) / 16.0f;
        }
        x = x * 1664525u + 1013904223u;
        labels[i] = (int32_t)(x >> 16) % C;
        labels[i] = labels[i] < 0 ? 0 : labels[i];
    }
    for (int32_t c = 0; c < C; c++) {
        near(wf_metrics_area(scores, labels, N, C, c, room),
             area_by_pairs(scores, labels, N, C, c));
    }
}

static void numbers_are_summed(void **state)
{
    static const float target[] = {1, 2, 3, 4}, y[] = {1.5f, 2, 2.5f, 5};
    wf_metrics m;
    (void)state;
    const wf_metrics_batch b = {.prediction = y, .target = target, .n_values = 4};
    begin(&m, 0, false);
    assert_int_equal(wf_metrics_add(&m, &b, NULL), WEFT_OK);
    assert_int_equal(wf_metrics_add(&m, &b, NULL), WEFT_OK);
    assert_int_equal(m.n_items, 8);
    near(m.sum_absolute, 4.0);
    near(m.sum_square, 3.0);
    near(m.sum_target, 20.0);
    near(m.sum_target_square, 60.0);
    wf_metrics_deinit(&m);
}

// ---- of a run
typedef struct seen {
    int64_t n_classes, n_right, n_all;
    double recall_0;
} seen;

static void keep(void *user, const weft_class_report *c)
{
    seen *s = user;
    s->n_classes = c->n_classes;
    s->recall_0 = c->recall[0];
    for (int64_t i = 0; i < c->n_classes * c->n_classes; i++) {
        s->n_all += c->confusion[i];
        s->n_right += i % (c->n_classes + 1) == 0 ? c->confusion[i] : 0;
    }
}

static void evaluate(const char *text, const char *device, seen *s, weft_eval_result *out)
{
    tiny_run run = {0};
    weft_context *context;
    weft_device *opened;
    weft_recipe *recipe;
    weft_error err = {0};
    weft_eval_options options = WEFT_EVAL_OPTIONS_INIT;
    tiny_remove(DIR_A);
    const tiny_how how = {.path = tiny_write(text), .dir = DIR_A, .device = device};
    tiny_train(&how, &run);
    if (run.status != WEFT_OK)
        fail_msg("%s", run.err.message);
    options.classes = keep;
    options.user = s;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(context, device, NULL, &opened, NULL), WEFT_OK);
    assert_int_equal(weft_recipe_read_run(context, DIR_A, NULL, 0, &recipe, NULL), WEFT_OK);
    if (weft_eval_run(recipe, opened, DIR_A, &options, out, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    weft_recipe_destroy(recipe);
    weft_device_close(opened);
    weft_context_destroy(context);
}

static void a_run_reports_its_classes(void **state)
{
    weft_eval_result cpu, ref;
    seen s = {0}, t = {0};
    (void)state;
    evaluate(tiny_recipe, "cpu", &s, &cpu);
    evaluate(tiny_recipe, "ref", &t, &ref);
    assert_memory_equal(&cpu, &ref, sizeof cpu);
    assert_memory_equal(&s, &t, sizeof s);
    assert_int_equal(s.n_classes, TINY_CLASSES);
    assert_int_equal(s.n_all, TINY_TEST);
    near((double)s.n_right / TINY_TEST, cpu.accuracy);
    assert_true(cpu.auroc > 0.5 && cpu.auroc <= 1.0 && cpu.f1 > 0.0);
    assert_true(isnan(cpu.top5_accuracy) && isnan(cpu.mae) && isnan(cpu.perplexity));
    assert_true(wf_file_is_regular(DIR_A "/confusion.png"));
}

static void a_reconstruction_reports_errors(void **state)
{
    static const char text[] = TINY_HEAD "model: [flatten, {linear: 8}, relu, {linear: 64}, "
                                         "{reshape: [1, 8, 8]}]\n"
                                         "loss: mse\n"
                                         "target: image\n"
                                         "optimiser: {kind: adam, lr: 1e-2}\n"
                                         "train: {batch: 16, epochs: 8}\n";
    weft_eval_result r;
    seen s = {0};
    (void)state;
    evaluate(text, "cpu", &s, &r);
    assert_int_equal(s.n_classes, 0);
    assert_true(isnan(r.accuracy) && isnan(r.f1));
    // The loss is the mean square itself.
    assert_true(fabs(r.rmse * r.rmse / r.loss - 1.0) < 1e-5);
    assert_true(fabs(r.squared_error / (64.0 * r.rmse * r.rmse) - 1.0) < 1e-12);
    assert_true(r.mae > 0.0 && r.mae <= r.rmse && r.r2 > 0.2 && r.r2 < 1.0);
}

const struct CMUnitTest wf_tests_metrics[] = {
    cmocka_unit_test(classes_are_counted),
    cmocka_unit_test(an_absent_class_has_no_value),
    cmocka_unit_test(ignored_labels_do_not_count),
    cmocka_unit_test(five_at_the_top),
    cmocka_unit_test(pixels_are_items),
    cmocka_unit_test(areas_are_their_definition),
    cmocka_unit_test(numbers_are_summed),
    cmocka_unit_test(a_run_reports_its_classes),
    cmocka_unit_test(a_reconstruction_reports_errors),
};
const unsigned long wf_n_tests_metrics = WF_N_TESTS(wf_tests_metrics);
