// Every family, small, killed at random moments of its work and resumed each time, leaves the files of the run that was
// left alone, byte for byte: weights, checkpoint, log, receipt, pictures, and those of each phase.
//
// The moment is drawn in steps, which the process tells of as it works, and in a part of a step behind them: so it
// falls into work however slow the machine is. A run that was faster than the signal is begun anew.
// labels: full noasan notsan long (processes of the command as it is shipped)
#include "train/family_small.h"
#include "train/process.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>

#define DIR_KILLED TEMP("family-kill")
#define DIR_WHOLE TEMP("family-kill-whole")
#define STEPS 24
#define EVERY 3
#define N_TRIES 5

// A small data set, so that epochs end within the run.
static pid_t start(const char *path, FILE **out_events)
{
    const char *const arguments[] = {"train", path,     "--out",    DIR_KILLED,     "--device",
                                     "cpu",   "--json", "--resume", "data.take=48", NULL};
    return process_start(arguments, out_events);
}

typedef struct moment {
    int n_events; // steps told of by this process
    double behind_s;
} moment;

// False when the run was over before.
static bool kill_at(const char *path, moment when, int *out_step)
{
    FILE *events;
    char line[512];
    const pid_t child = start(path, &events);
    int n = 0;
    *out_step = 0;
    while (n < when.n_events && fgets(line, sizeof line, events)) {
        const char *step = strstr(line, "\"step\":");
        *out_step = step ? atoi(step + 7) : *out_step;
        n += step != NULL;
    }
    process_sleep(when.behind_s);
    kill(child, SIGKILL);
    const bool was_killed = process_was_killed(process_end(child));
    fclose(events);
    return was_killed && n == when.n_events && !wf_file_is_regular(DIR_KILLED "/receipt.json");
}

static double run_whole(const char *path)
{
    tiny_remove(DIR_KILLED);
    tiny_remove(DIR_WHOLE);
    const double begun = process_seconds();
    assert_false(process_was_killed(process_end(start(path, NULL))));
    const double seconds = process_seconds() - begun;
    // One path for both: phases write it into their recipe.
    assert_int_equal(rename(DIR_KILLED, DIR_WHOLE), 0);
    return seconds;
}

// Kills spread over the run's events, each in its own part, the last one perhaps behind the last step. A resumed run
// repeats up to EVERY steps, so that none comes later than it is drawn.
static bool kill_spread(const char *path, int n_kills, int n_events, double step_s, char said[256])
{
    int before = 0;
    size_t at = 0;
    tiny_remove(DIR_KILLED);
    for (int k = 0; k < n_kills; k++) {
        const int place = (k * n_events + rand() % n_events) / n_kills;
        const moment when = {place > before ? place - before : 1,
                             step_s * (double)(rand() % 1000) / 1000.0};
        int step;
        if (!kill_at(path, when, &step))
            return false;
        at += (size_t)snprintf(said + at, 256 - at, " %d", step);
        before = place;
    }
    return true;
}

static void expect_same_files(const char *name, const char *dir_a, const char *dir_b);

static void expect_same_file(const char *name, const char *dir_a, const char *dir_b,
                             const char *file)
{
    char a[1024], b[1024];
    struct stat info;
    snprintf(a, sizeof a, "%s/%s", dir_a, file);
    snprintf(b, sizeof b, "%s/%s", dir_b, file);
    assert_int_equal(stat(a, &info), 0);
    if (stat(b, &info) != 0)
        fail_msg("%s: %s is not there", name, b);
    if (S_ISDIR(info.st_mode))
        expect_same_files(name, a, b);
    else if (!tiny_same_file(dir_a, dir_b, file))
        fail_msg("%s: %s and %s differ", name, a, b);
}

// Each file of one folder is in the other and the same.
static void expect_same_files(const char *name, const char *dir_a, const char *dir_b)
{
    DIR *d = opendir(dir_a);
    struct dirent *entry;
    assert_non_null(d);
    while ((entry = readdir(d))) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            expect_same_file(name, dir_a, dir_b, entry->d_name);
    }
    closedir(d);
}

static void kill_family(const family_small *f, int n_kills, unsigned seed)
{
    const int n_events = f->phases ? 3 * STEPS : STEPS;
    char said[256] = "";
    const char *path = family_small_write(f, STEPS, EVERY);
    const double whole_s = run_whole(path);
    bool is_killed = false;
    srand(seed);
    for (int i = 0; !is_killed && i < N_TRIES; i++)
        is_killed = kill_spread(path, n_kills, n_events, whole_s / (double)n_events, said);
    if (!is_killed)
        fail_msg("%s: faster than its kills, %d times (seed %u)", f->name, N_TRIES, seed);
    assert_false(process_was_killed(process_end(start(path, NULL))));
    print_message("%s: seed %u, killed at steps%s of %d, %.2f s when left alone\n", f->name, seed,
                  said, STEPS, whole_s);
    expect_same_files(f->name, DIR_WHOLE, DIR_KILLED);
    expect_same_files(f->name, DIR_KILLED, DIR_WHOLE);
}

static void killed_it_is_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_families_small; i++)
        kill_family(&families_small[i], families_small[i].phases ? 8 : 4, (unsigned)i + 1);
}

const struct CMUnitTest wf_tests_family_kill[] = {
    cmocka_unit_test(killed_it_is_the_same),
};
const unsigned long wf_n_tests_family_kill = WF_N_TESTS(wf_tests_family_kill);
