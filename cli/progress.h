// The progress line of a training: redrawn in place on a terminal, now and then a line elsewhere.
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include "cli.h"

typedef struct cli_progress {
    FILE *file;
    bool is_terminal;
    double shown_s; // when it was shown last
    bool is_open;   // an unfinished line stands there
} cli_progress;

void cli_progress_init(cli_progress *progress, FILE *file);
// done of total, with a text behind the bar; shown a few times a second (a terminal) or every ten
// seconds. is_last: shown in any case.
void cli_progress_show(cli_progress *progress, int64_t done, int64_t total, const char *text,
                       bool is_last);
// Takes the line away, so that something else can be printed.
void cli_progress_clear(cli_progress *progress);
// "1:05:09", "4:20".
#define CLI_DURATION_TEXT 32
const char *cli_duration_text(double seconds, char out[CLI_DURATION_TEXT]);

#endif
