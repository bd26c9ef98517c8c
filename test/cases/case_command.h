// For tests of the command: one shell line with the command in $WEFT, everything it says, its exit code.
#ifndef CASE_COMMAND_H
#define CASE_COMMAND_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "wf_test.h"

typedef struct case_said {
    int code;
    char text[1 << 16];
} case_said;

// The exit code is -1 for a process that a signal ended (SIGILL is 132 where a shell is between).
WF_UNUSED static void case_command(case_said *said, const char *line)
{
    char shell[1024];
    setenv("WEFT", WEFT_BINARY, 1);
    const int n = snprintf(shell, sizeof shell, "%s 2>&1", line);
    assert_in_range(n, 1, sizeof shell - 1);
    FILE *pipe = popen(shell, "r");
    assert_non_null(pipe);
    const size_t len = fread(said->text, 1, sizeof said->text - 1, pipe);
    said->text[len] = 0;
    const int code = pclose(pipe);
    said->code = WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

WF_UNUSED static void case_says(const char *line, int code, const char *part)
{
    static case_said said;
    case_command(&said, line);
    if (said.code != code || !strstr(said.text, part)) {
        fail_msg("%s: exit code %d, expected %d with '%s'; said:\n%s", line, said.code, code, part,
                 said.text);
    }
}

#endif
