// Reads a verb's flags by its table, and writes its help from the same table.
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const cli_flag device_flags[] = {
    {"device", CLI_TEXT, offsetof(cli_common, device), "D",
     "cpu, ref, opencl[:N] or auto (cpu); weft devices lists them"},
    {"threads", CLI_INTEGER, offsetof(cli_common, n_threads), "N",
     "threads of the cpu device (one per core)"},
    {"isa", CLI_TEXT, offsetof(cli_common, isa), "ISA",
     "scalar, avx2, avx512 or neon (the best that the processor has)"},
};
static const cli_flag precision_flags[] = {
    {"precision", CLI_ARITHMETIC, offsetof(cli_common, arithmetic), "P",
     "exact (the same bits on every device), fast, or mixed: fast, with storage: bf16"},
    {"no-winograd", CLI_SWITCH, offsetof(cli_common, no_winograd), NULL,
     "fast on cpu: convolutions without Winograd's transforms"},
};
static const cli_flag memory_flags[] = {
    {"memory", CLI_SIZE, offsetof(cli_common, memory_bytes), "SIZE",
     "refuse what would need more: 512M, 2G"},
};
static const cli_flag seed_flags[] = {
    {"seed", CLI_INTEGER, offsetof(cli_common, seed), "N", "seed of weights, order and dropout"},
};
static const cli_flag always_flags[] = {
    {"json", CLI_SWITCH, offsetof(cli_common, is_json), NULL, "JSON on standard output"},
    {"quiet", CLI_SWITCH, offsetof(cli_common, is_quiet), NULL, "only results and errors"},
    {"verbose", CLI_SWITCH, offsetof(cli_common, is_verbose), NULL, "what each stage does"},
};

typedef struct flag_set {
    const cli_flag *flags;
    size_t n;
} flag_set;

#define N_SETS 6

static void sets_of(const cli_verb *verb, flag_set out[N_SETS])
{
    const flag_set none = {NULL, 0};
    const flag_set sets[N_SETS] = {
        {verb->flags, verb->n_flags},
        verb->wants & CLI_WANTS_DEVICE ? (flag_set){device_flags, CLI_COUNT(device_flags)} : none,
        verb->wants & CLI_WANTS_PRECISION ? (flag_set){precision_flags, CLI_COUNT(precision_flags)}
                                          : none,
        verb->wants & CLI_WANTS_MEMORY ? (flag_set){memory_flags, 1} : none,
        verb->wants & CLI_WANTS_SEED ? (flag_set){seed_flags, 1} : none,
        {always_flags, CLI_COUNT(always_flags)},
    };
    memcpy(out, sets, sizeof sets);
}

int cli_usage(const cli_verb *verb, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "weft %s: ", verb->name);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n(weft %s --help says what it takes)\n", verb->name);
    va_end(args);
    return CLI_USAGE;
}

static void help(const cli_verb *verb)
{
    flag_set sets[N_SETS];
    printf("usage: weft %s%s%s [FLAGS]\n\n%s\n", verb->name, *verb->arguments ? " " : "",
           verb->arguments, verb->summary);
    if (verb->text)
        printf("\n%s\n", verb->text);
    printf("\n");
    sets_of(verb, sets);
    for (size_t s = 0; s < N_SETS; s++) {
        for (size_t i = 0; i < sets[s].n; i++) {
            const cli_flag *f = &sets[s].flags[i];
            char left[64];
            snprintf(left, sizeof left, "--%s%s%s", f->name, f->value ? " " : "",
                     f->value ? f->value : "");
            printf("  %-22s %s\n", left, f->help);
        }
    }
    printf("  %-22s %s\n", "--help", "this text");
}

static const cli_flag *find(const cli_verb *verb, const char *name, size_t len)
{
    flag_set sets[N_SETS];
    sets_of(verb, sets);
    for (size_t s = 0; s < N_SETS; s++) {
        for (size_t i = 0; i < sets[s].n; i++) {
            const cli_flag *f = &sets[s].flags[i];
            if (strlen(f->name) == len && !memcmp(f->name, name, len))
                return f;
        }
    }
    return NULL;
}

// Digits only, the whole of it: strtoll alone takes blanks, signs and trailing letters.
static bool parse_digits(const char *text, size_t len, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || value > (UINT64_MAX - 9) / 10)
            return false;
        value = value * 10 + (uint64_t)(text[i] - '0');
    }
    *out = value;
    return len > 0;
}

static bool parse_size(const char *text, uint64_t *out)
{
    static const char units[] = "KMGT";
    size_t len = strlen(text);
    unsigned shift = 0;
    // "512M", "512MB" and "512MiB" are one thing.
    if (len > 2 && (!strcmp(text + len - 2, "iB")))
        len -= 2;
    else if (len > 1 && (text[len - 1] == 'B' || text[len - 1] == 'b'))
        len -= 1;
    if (len > 1) {
        const char last = text[len - 1] >= 'a' ? (char)(text[len - 1] - 'a' + 'A') : text[len - 1];
        const char *unit = strchr(units, last);
        if (unit && *unit) {
            shift = 10 * (unsigned)(unit - units + 1);
            len--;
        }
    }
    uint64_t value;
    if (!parse_digits(text, len, &value) || (shift && value >> (64 - shift)))
        return false;
    *out = value << shift;
    return true;
}

static int store(const cli_verb *verb, const cli_flag *flag, const char *value, void *options)
{
    void *target = (char *)options + flag->offset;
    uint64_t number;
    switch (flag->kind) {
    case CLI_SWITCH: *(bool *)target = true; return -1;
    case CLI_TEXT: *(const char **)target = value; return -1;
    case CLI_INTEGER:
        if (!parse_digits(value, strlen(value), &number) || number > INT64_MAX)
            return cli_usage(verb, "--%s: '%s' is no number, expected 0 or more", flag->name,
                             value);
        *(int64_t *)target = (int64_t)number;
        return -1;
    case CLI_SIZE:
        if (!parse_size(value, &number) || number == 0)
            return cli_usage(verb, "--%s: '%s' is no size, expected bytes like 512M or 2G",
                             flag->name, value);
        *(uint64_t *)target = number;
        return -1;
    case CLI_ARITHMETIC:
        if (strcmp(value, "exact") && strcmp(value, "fast") && strcmp(value, "mixed"))
            return cli_usage(verb, "--%s: no value '%s', expected exact, fast or mixed", flag->name,
                             value);
        *(cli_arithmetic *)target = !strcmp(value, "exact")  ? CLI_ARITHMETIC_EXACT
                                    : !strcmp(value, "fast") ? CLI_ARITHMETIC_FAST
                                                             : CLI_ARITHMETIC_MIXED;
        return -1;
    }
    return -1;
}

static void unset_integers(const cli_verb *verb, void *options)
{
    flag_set sets[N_SETS];
    cli_common *common = options;
    common->n_threads = common->seed = CLI_UNSET;
    sets_of(verb, sets);
    for (size_t i = 0; i < sets[0].n; i++) {
        if (sets[0].flags[i].kind == CLI_INTEGER)
            *(int64_t *)(void *)((char *)options + sets[0].flags[i].offset) = CLI_UNSET;
    }
}

int cli_parse(const cli_verb *verb, int argc, char **argv, void *options, int *out_n_words)
{
    int n_words = 0;
    *out_n_words = 0;
    unset_integers(verb, options);
    for (int i = 0; i < argc; i++) {
        char *word = argv[i];
        if (!strcmp(word, "--")) {
            for (i++; i < argc; i++) {
                argv[n_words++] = argv[i];
            }
            break;
        }
        if (word[0] != '-' || !word[1]) {
            argv[n_words++] = word;
            continue;
        }
        if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
            help(verb);
            return CLI_OK;
        }
        const char *name = word[1] == '-' ? word + 2 : word + 1;
        const char *equals = strchr(name, '=');
        const size_t len = equals ? (size_t)(equals - name) : strlen(name);
        const cli_flag *flag = word[1] == '-' ? find(verb, name, len) : NULL;
        if (!flag)
            return cli_usage(verb, "no flag '%s'", word);
        const char *value = equals ? equals + 1 : NULL;
        if (flag->kind == CLI_SWITCH && value)
            return cli_usage(verb, "--%s takes no value", flag->name);
        if (flag->kind != CLI_SWITCH && !value) {
            if (++i >= argc)
                return cli_usage(verb, "--%s: no value, expected %s", flag->name, flag->value);
            value = argv[i];
        }
        const int code = store(verb, flag, value, options);
        if (code >= 0)
            return code;
    }
    *out_n_words = n_words;
    return -1;
}
