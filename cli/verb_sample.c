// weft sample: text from a trained language model, to standard output.
#include <stdlib.h>

#include "run_verb.h"

typedef struct options {
    cli_common common;
    bool is_best, is_uncached;
    const char *prompt;
    int64_t n_tokens, top_k;
    const char *temperature, *top_p;
} options;

// A number of 0 or more; false, after a message, for anything else.
static bool read_number(const cli_verb *verb, const char *flag, const char *text, double *out)
{
    char *end;
    if (!text)
        return true;
    *out = strtod(text, &end);
    if (end != text && *end == 0 && *out >= 0.0 && *out <= 1e6)
        return true;
    (void)cli_usage(verb, "--%s is '%s', expected a number, 0 or more", flag, text);
    return false;
}

static void wrote(void *user, const char *bytes, size_t n)
{
    const options *o = user;
    if (o->common.is_json) {
        char text[64];
        cli_json json = {stdout, false};
        // A prompt may be longer than the buffer; tokens are characters.
        for (size_t at = 0; at < n;) {
            size_t len = n - at < sizeof text - 1 ? n - at : sizeof text - 1;
            while (at + len < n && len > 1 && ((unsigned char)bytes[at + len] & 0xC0) == 0x80)
                len--;
            for (size_t i = 0; i < len; i++)
                text[i] = bytes[at + i];
            text[len] = 0;
            cli_json_open(&json, NULL, '{');
            cli_json_text(&json, "text", text);
            cli_json_close(&json, '}');
            cli_json_end(&json);
            at += len;
        }
        return;
    }
    (void)fwrite(bytes, 1, n, stdout);
    (void)fflush(stdout);
}

static int run_sample(const cli_verb *verb, int argc, char **argv)
{
    weft_sample_options sample = WEFT_SAMPLE_OPTIONS_INIT;
    options o = {0};
    cli_run run;
    int n_words;
    weft_error err = {0};
    int code = cli_parse(verb, argc, argv, &o, &n_words);
    if (code >= 0)
        return code;
    if (n_words != 1)
        return cli_usage(verb, "no run, expected the folder of a run");
    if (!read_number(verb, "temperature", o.temperature, &sample.temperature) ||
        !read_number(verb, "top-p", o.top_p, &sample.top_p))
        return CLI_USAGE;
    code = cli_run_open(&o.common, argv[0], NULL, 0, &run);
    if (code == CLI_OK) {
        sample.prompt = o.prompt;
        sample.n_tokens = o.n_tokens != CLI_UNSET ? o.n_tokens : sample.n_tokens;
        sample.top_k = o.top_k != CLI_UNSET ? o.top_k : 0;
        sample.seed = o.common.seed != CLI_UNSET ? o.common.seed : 0;
        sample.is_best = o.is_best;
        sample.is_uncached = o.is_uncached;
        code = cli_run_end(
            weft_sample_run(run.recipe, run.device, argv[0], &sample, wrote, &o, &err), &err);
        if (code == CLI_OK && !o.common.is_json)
            (void)fputc('\n', stdout);
    }
    cli_run_close(&run);
    return code;
}

static const cli_flag flags[] = {
    {"prompt", CLI_TEXT, offsetof(options, prompt), "TEXT", "what the text begins with"},
    {"tokens", CLI_INTEGER, offsetof(options, n_tokens), "N", "how many tokens to write (200)"},
    {"temperature", CLI_TEXT, offsetof(options, temperature), "T",
     "below 1 more of what is probable, above less; 0 always the most probable (1)"},
    {"top-k", CLI_INTEGER, offsetof(options, top_k), "K", "only the K most probable tokens (all)"},
    {"top-p", CLI_TEXT, offsetof(options, top_p), "P",
     "only the most probable tokens that reach the share P together (all)"},
    {"best", CLI_SWITCH, offsetof(options, is_best), NULL,
     "the weights of the best epoch instead of the last"},
    {"no-cache", CLI_SWITCH, offsetof(options, is_uncached), NULL,
     "run the whole window for each token: slower, the same text"},
};

const cli_verb cli_verb_sample = {
    .name = "sample",
    .summary = "writes text with a trained language model",
    .arguments = "RUN",
    .text = "The same seed writes the same text on every device.",
    .wants = CLI_WANTS_DEVICE | CLI_WANTS_PRECISION | CLI_WANTS_SEED,
    .flags = flags,
    .n_flags = CLI_COUNT(flags),
    .run = run_sample,
};
