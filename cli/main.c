// The command weft: finds the verb and runs it. In: the command line. Out: an exit code.
#include <locale.h>
#include <string.h>

#include "cli.h"

#define WF_VERB(name) extern const cli_verb cli_verb_##name; // cli_verb_train, ...
#include "weft_generated/verb_list.inc"
#undef WF_VERB

static const cli_verb *const verbs[] = {
#define WF_VERB(name) &cli_verb_##name,
#include "weft_generated/verb_list.inc"
#undef WF_VERB
};

static void help(FILE *file)
{
    fprintf(file, "usage: weft VERB [ARGUMENTS] [FLAGS]\n\n");
    for (size_t i = 0; i < CLI_COUNT(verbs); i++) {
        fprintf(file, "  %-9s %s\n", verbs[i]->name, verbs[i]->summary);
    }
    fprintf(file, "\nweft VERB --help says more. Exit codes: 0 done, 1 failed, 2 wrong usage,\n"
                  "3 device unavailable, 130 interrupted.\n");
}

// Letters to insert, delete or replace, for words of a few letters.
static size_t distance(const char *a, const char *b)
{
    size_t row[32];
    const size_t n = strlen(b);
    if (n >= CLI_COUNT(row) || strlen(a) >= CLI_COUNT(row))
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (size_t i = 0; a[i]; i++) {
        size_t corner = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            const size_t change = corner + (a[i] != b[j]);
            corner = row[j + 1];
            const size_t step = (row[j] < corner ? row[j] : corner) + 1;
            row[j + 1] = change < step ? change : step;
        }
    }
    return row[n];
}

static int unknown_verb(const char *word)
{
    const char *nearest = NULL;
    size_t least = 3;
    for (size_t i = 0; i < CLI_COUNT(verbs); i++) {
        const size_t d = distance(word, verbs[i]->name);
        if (d < least) {
            least = d;
            nearest = verbs[i]->name;
        }
    }
    fprintf(stderr, "weft: no verb '%s'", word);
    if (nearest)
        fprintf(stderr, ", did you mean '%s'?", nearest);
    fprintf(stderr, "\n(weft --help lists the verbs)\n");
    return CLI_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return CLI_USAGE;
    }
    // The user's language for what the system says; numbers do not follow it.
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C");
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        help(stdout);
        return CLI_OK;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("weft %s, arithmetic version %d\n", weft_version(), WEFT_ARITHMETIC_VERSION);
        return CLI_OK;
    }
    for (size_t i = 0; i < CLI_COUNT(verbs); i++) {
        if (!strcmp(argv[1], verbs[i]->name))
            return verbs[i]->run(verbs[i], argc - 2, argv + 2);
    }
    return unknown_verb(argv[1]);
}
