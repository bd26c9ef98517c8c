// Starts, kills and waits for processes. See process.h.
#include "train/process.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_ARGUMENTS 32
#define SAID WEFT_TEST_TMP "/process-said.txt"

static void become(const char *const *arguments, int output)
{
    const char *words[MAX_ARGUMENTS + 2] = {WEFT_BINARY};
    for (size_t i = 0; i < MAX_ARGUMENTS && arguments[i]; i++)
        words[i + 1] = arguments[i];
    if (!freopen("/dev/null", "w", stdout) || !freopen(SAID, "w", stderr) ||
        (output >= 0 && dup2(output, STDOUT_FILENO) < 0))
        _exit(99);
    execv(WEFT_BINARY, (char *const *)(uintptr_t)words);
    _exit(98);
}

pid_t process_start(const char *const *arguments, FILE **out_output)
{
    int ends[2] = {-1, -1};
    if (out_output)
        assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (out_output)
            close(ends[0]);
        become(arguments, ends[1]);
    }
    if (out_output) {
        close(ends[1]);
        *out_output = fdopen(ends[0], "r");
        assert_non_null(*out_output);
    }
    return child;
}

int process_end(pid_t child)
{
    int code;
    assert_int_equal(waitpid(child, &code, 0), child);
    return code;
}

bool process_was_killed(int code)
{
    char said[512] = "";
    if (WIFSIGNALED(code) && WTERMSIG(code) == SIGKILL)
        return true;
    if (WIFEXITED(code) && WEXITSTATUS(code) == 0)
        return false;
    FILE *f = fopen(SAID, "r");
    if (f) {
        said[fread(said, 1, sizeof said - 1, f)] = 0;
        fclose(f);
    }
    fail_msg("the command ended with %#x: %s", (unsigned)code, said);
    return false;
}

double process_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void process_sleep(double s)
{
    const struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
    nanosleep(&t, NULL);
}
