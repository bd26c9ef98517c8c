// What the verbs of the command share: flags by table, exit codes, JSON lines, messages, devices.
//
// A verb is one file verb_NAME.c that exports `const cli_verb cli_verb_NAME`; the list is generated
// from the file names. It sees only <weft/...>: what any program with the library sees.
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdio.h>

#include <weft/weft.h>

// Exit codes: part of the command's promise.
enum {
    CLI_OK = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_NO_DEVICE = 3,
    CLI_INTERRUPTED = 130,
};

// ---- flags
typedef enum cli_flag_kind {
    CLI_SWITCH,     // bool: true when given
    CLI_TEXT,       // const char *, borrowed from argv
    CLI_INTEGER,    // int64_t, 0 or more
    CLI_SIZE,       // uint64_t bytes: "512M", "2G", "1048576"; units of 1024
    CLI_ARITHMETIC, // cli_arithmetic: exact, fast, mixed
} cli_flag_kind;

typedef struct cli_flag {
    const char *name; // without the dashes: "device"
    cli_flag_kind kind;
    size_t offset;     // of the member in the verb's options struct
    const char *value; // what the help calls the value: "N"; NULL for a switch
    const char *help;
} cli_flag;

typedef enum cli_arithmetic {
    CLI_ARITHMETIC_UNSET = 0, // the recipe's, or exact
    CLI_ARITHMETIC_EXACT = 1,
    CLI_ARITHMETIC_FAST = 2,
    CLI_ARITHMETIC_MIXED = 3, // of recipes: fast, with bf16 between layers
} cli_arithmetic;

// Integers hold this when their flag was not given.
#define CLI_UNSET INT64_MIN

// The flags that most verbs take. The options struct of a verb begins with one of these.
typedef struct cli_common {
    const char *device; // NULL: "cpu"
    cli_arithmetic arithmetic;
    uint64_t memory_bytes; // 0: no limit
    int64_t seed;          // CLI_UNSET: the recipe's
    int64_t n_threads;     // CLI_UNSET: one per core
    const char *isa;       // NULL: the best
    bool no_winograd;
    bool is_json;
    bool is_quiet;
    bool is_verbose;
} cli_common;

// Which of them a verb takes (--json, --quiet, --verbose and --help are always taken).
enum {
    CLI_WANTS_DEVICE = 1 << 0,    // --device --threads --isa
    CLI_WANTS_PRECISION = 1 << 1, // --precision --no-winograd
    CLI_WANTS_MEMORY = 1 << 2,
    CLI_WANTS_SEED = 1 << 3,
};

typedef struct cli_verb {
    const char *name;
    const char *summary;   // one line, for `weft --help`
    const char *arguments; // "RECIPE [KEY=VALUE ...]"
    const char *text;      // a paragraph or more for --help, or NULL
    uint32_t wants;        // CLI_WANTS_*
    const cli_flag *flags; // its own
    size_t n_flags;
    // argv[0] is the first word behind the verb. Returns an exit code.
    int (*run)(const struct cli_verb *verb, int argc, char **argv);
} cli_verb;

#define CLI_COUNT(array) (sizeof(array) / sizeof((array)[0]))

// Reads the flags into *options, whose first member is a cli_common and whose integers this sets to
// CLI_UNSET first (the rest stays as the caller zeroed it). "--name value" and "--name=value";
// behind "--" everything is a word. The words are gathered at argv[0 .. *out_n_words - 1].
// Returns -1 to go on, or the exit code to end with: 0 after --help, CLI_USAGE after a message.
int cli_parse(const cli_verb *verb, int argc, char **argv, void *options, int *out_n_words);

// ---- messages, on stderr
// "weft VERB: text" and CLI_USAGE, with a hint at --help.
int cli_usage(const cli_verb *verb, const char *format, ...);
// "weft: error: text (advice)" and the exit code that belongs to the error's code.
int cli_fail(const weft_error *err);

// ---- context and device
// A context that logs to stderr: warnings always, notes unless quiet or JSON, the rest with --verbose.
// Returns 0 or an exit code, after a message.
int cli_context(const cli_common *common, weft_context **out_context);
// The device that the flags ask for. Returns 0 or an exit code (CLI_NO_DEVICE), after a message.
int cli_device(const cli_common *common, weft_context *context, weft_device **out_device);
// "512.0 MiB" in out.
#define CLI_SIZE_TEXT 32
const char *cli_size_text(uint64_t size_bytes, char out[CLI_SIZE_TEXT]);

// ---- a table, for people: cells row by row, then all of it with columns as wide as what stands in them
#define CLI_TABLE_COLUMNS 8 // at most
typedef struct cli_table {
    FILE *cells;
    char *text;
    size_t size;
    int n_columns;
} cli_table;

bool cli_table_open(cli_table *table, int n_columns); // false: no memory
void cli_table_cell(cli_table *table, const char *format, ...);
// Prints and frees it: the first n_left columns aligned left, the others right. Also a zeroed one.
void cli_table_close(cli_table *table, int n_left, FILE *out);

// ---- JSON, on any file: one value a line. Numbers that are not finite become null.
typedef struct cli_json {
    FILE *file;
    bool needs_comma;
} cli_json;

// kind '{' or '['. key NULL: an element of an array, or the outermost value.
void cli_json_open(cli_json *json, const char *key, char kind);
void cli_json_text(cli_json *json, const char *key, const char *value); // NULL: null
void cli_json_integer(cli_json *json, const char *key, int64_t value);
void cli_json_f32(cli_json *json, const char *key, float value); // reads back to the same bits
void cli_json_f64(cli_json *json, const char *key, double value);
void cli_json_bool(cli_json *json, const char *key, bool value);
void cli_json_close(cli_json *json, char kind); // '}' or ']'
// Ends the line and flushes, so that a reader at the other end of a pipe sees it now.
void cli_json_end(cli_json *json);

#endif
