// Draws the progress line. In: how far. Out: a line on a terminal that is written over, plain lines else.
#include "progress.h"

#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define TERMINAL_SECONDS 0.1
#define PLAIN_SECONDS 10.0
#define BAR_CELLS 24

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void cli_progress_init(cli_progress *p, FILE *file)
{
    p->file = file;
    p->is_terminal = isatty(fileno(file));
    p->shown_s = now_seconds();
    p->is_open = false;
}

const char *cli_duration_text(double seconds, char out[CLI_DURATION_TEXT])
{
    const long long s = seconds > 0.0 && seconds < 1e9 ? (long long)(seconds + 0.5) : 0;
    if (s >= 3600)
        snprintf(out, CLI_DURATION_TEXT, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, CLI_DURATION_TEXT, "%lld:%02lld", s / 60, s % 60);
    return out;
}

static int columns(const cli_progress *p)
{
    struct winsize size;
    if (ioctl(fileno(p->file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

static void draw(cli_progress *p, int64_t done, int64_t total, const char *text)
{
    char bar[3 * BAR_CELLS + 1] = "", line[512];
    const int64_t full = total > 0 ? done * BAR_CELLS / total : 0;
    for (int i = 0; i < BAR_CELLS; i++) {
        strcat(bar, i < full ? "\xe2\x96\x88" : "\xe2\x96\x91"); // full and light block
    }
    const int wide =
        snprintf(line, sizeof line, "%3d %% ", (int)(total > 0 ? 100 * done / total : 0));
    const int left = columns(p) - wide - BAR_CELLS - 2;
    fprintf(p->file, "\r%s%s %.*s\033[K", line, bar, left > 0 ? left : 0, text);
    fflush(p->file);
    p->is_open = true;
}

void cli_progress_show(cli_progress *p, int64_t done, int64_t total, const char *text, bool is_last)
{
    const double now = now_seconds();
    if (!is_last && now - p->shown_s < (p->is_terminal ? TERMINAL_SECONDS : PLAIN_SECONDS))
        return;
    p->shown_s = now;
    if (p->is_terminal) {
        draw(p, done, total, text);
    } else {
        fprintf(p->file, "step %" PRId64 " of %" PRId64 ": %s\n", done, total, text);
        fflush(p->file);
    }
}

void cli_progress_clear(cli_progress *p)
{
    if (!p->is_open)
        return;
    fputs("\r\033[K", p->file);
    fflush(p->file);
    p->is_open = false;
}
