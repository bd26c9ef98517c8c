// Draws losses over learning rates, the rates on a logarithmic axis. In: points. Out: a PNG.
#include <math.h>
#include <stdio.h>

#include "io/drawing.h"
#include "train/lr_curve.h"

#define WIDTH 760
#define HEIGHT 460
#define LEFT 70
#define RIGHT 20
#define TOP 50
#define BOTTOM 50
#define N_LOSS_LABELS 6

static const wf_colour grid = {{224, 224, 224}}, dots = {{150, 180, 220}}, curve = {{30, 90, 180}},
                       chosen = {{34, 150, 70}}, steep = {{210, 120, 20}};

typedef struct plot {
    wf_image image;
    double x0, x1, y0, y1; // log10 of the rates; losses
} plot;

static int32_t at_x(const plot *p, double lr)
{
    const double share = (log10(lr) - p->x0) / (p->x1 - p->x0);
    return LEFT + (int32_t)(share * (WIDTH - LEFT - RIGHT));
}

static double clamp(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

static int32_t at_y(const plot *p, double loss)
{
    const double share = (clamp(loss, p->y0, p->y1) - p->y0) / (p->y1 - p->y0);
    return HEIGHT - BOTTOM - (int32_t)(share * (HEIGHT - TOP - BOTTOM));
}

// From the least smoothed loss to the first, and as much again: where it explodes is cut.
static void find_ranges(plot *p, const weft_lr_point *points, int64_t n)
{
    double least = points[0].smoothed, most = points[0].smoothed;
    const double cap = points[0].smoothed > 0.0 ? 2.0 * points[0].smoothed : 1.0;
    for (int64_t i = 0; i < n; i++) {
        least = fmin(least, points[i].smoothed);
        most = fmax(most, fmin(points[i].smoothed, cap));
    }
    const double room = most > least ? 0.05 * (most - least) : 0.5;
    p->y0 = least - room;
    p->y1 = most + room;
    p->x0 = log10((double)points[0].lr);
    p->x1 = log10((double)points[n - 1].lr);
    if (!(p->x1 > p->x0))
        p->x1 = p->x0 + 1.0;
}

static void draw_axes(plot *p)
{
    char text[32];
    for (int e = (int)ceil(p->x0 - 1e-9); e <= (int)floor(p->x1 + 1e-9); e++) {
        const int32_t x = at_x(p, pow(10.0, e));
        snprintf(text, sizeof text, "1e%d", e);
        wf_draw_box(&p->image, TOP, x, HEIGHT - TOP - BOTTOM, 1, grid);
        wf_draw_text(&p->image, HEIGHT - BOTTOM + 8, x - wf_text_pixels(1, text) / 2, 1, WF_INK,
                     text);
    }
    for (int i = 0; i <= N_LOSS_LABELS; i++) {
        const double loss = p->y0 + (p->y1 - p->y0) * i / N_LOSS_LABELS;
        const int32_t y = at_y(p, loss);
        snprintf(text, sizeof text, "%.4g", loss);
        wf_draw_box(&p->image, y, LEFT, 1, WIDTH - LEFT - RIGHT, grid);
        wf_draw_text(&p->image, y - 3, LEFT - 8 - wf_text_pixels(1, text), 1, WF_INK, text);
    }
    wf_draw_text(&p->image, HEIGHT - 22, WIDTH / 2 - 40, 1, WF_INK, "learning rate");
    wf_draw_text(&p->image, TOP - 14, 8, 1, WF_INK, "loss");
}

static void draw_mark(plot *p, double lr, wf_colour c, const char *name, int32_t top)
{
    char text[64];
    const int32_t x = at_x(p, lr);
    snprintf(text, sizeof text, "%s %.2e", name, lr);
    wf_draw_text(&p->image, top, LEFT, 1, c, text);
    if (x >= LEFT && x < WIDTH - RIGHT)
        wf_draw_box(&p->image, TOP, x, HEIGHT - TOP - BOTTOM, 2, c);
}

weft_status wf_lr_curve_draw(const wf_allocator *a, const weft_lr_point *points, int64_t n,
                             const weft_lr_find_result *result, const char *path, weft_error *err)
{
    plot p = {.x0 = 0.0};
    WEFT_TRY(wf_image_init(&p.image, a, HEIGHT, WIDTH, 3, err));
    wf_draw_box(&p.image, 0, 0, HEIGHT, WIDTH, WF_PAPER);
    find_ranges(&p, points, n);
    draw_axes(&p);
    draw_mark(&p, result->suggested, chosen, "suggested", 12);
    draw_mark(&p, result->lr_steepest, steep, "steepest", 24);
    for (int64_t i = 0; i < n; i++) {
        const int32_t x = at_x(&p, (double)points[i].lr);
        wf_draw_box(&p.image, at_y(&p, (double)points[i].loss) - 1, x - 1, 3, 3, dots);
    }
    for (int64_t i = 1; i < n; i++) {
        wf_draw_line(&p.image, at_x(&p, (double)points[i - 1].lr), at_y(&p, points[i - 1].smoothed),
                     at_x(&p, (double)points[i].lr), at_y(&p, points[i].smoothed), curve);
    }
    const weft_status status = wf_png_write(a, path, &p.image, err);
    wf_image_deinit(&p.image);
    return status;
}
