// Receipts: what a run computed and on what, with a digest for each step, so that another machine can be
// held against it. In: a trainer. Out: receipt.json, and back.
#include <string.h>

#include "train/trainer.h"
#include "weft_config.h"

#define FILE_NAME "receipt.json"

// What changes no bit is taken out first.
weft_status wf_recipe_digest(const weft_recipe *recipe, char out_hex[WF_SHA256_HEX_BYTES],
                             weft_error *err)
{
    weft_recipe plain = *recipe;
    wf_text text;
    wf_sha256 sha;
    uint8_t bytes[WF_SHA256_BYTES];
    plain.v.train.loader_threads = 1;
    plain.v.train.log_every = 1;
    plain.v.train.checkpoint_every = 0;
    plain.v.train.stats_every = 0;
    plain.v.train.has_tensorboard = false;
    plain.v.data.dir = "";
    plain.v.data.test = plain.v.data.test ? "" : NULL;
    plain.v.train.init_from.file = plain.v.train.init_from.file ? "" : NULL;
    wf_text_init(&text, &recipe->allocator);
    const weft_status status = wf_recipe_print(&plain, &text, err);
    wf_sha256_init(&sha);
    wf_sha256_update(&sha, wf_text_str(&text), text.len);
    wf_sha256_final(&sha, bytes);
    wf_sha256_hex(bytes, out_hex);
    wf_text_deinit(&text);
    return status;
}

static void put_text(wf_text *out, const char *key, const char *value)
{
    wf_text_printf(out, "  \"%s\": ", key);
    wf_text_append_json_string(out, value);
    wf_text_append(out, ",\n");
}

static void put_integer(wf_text *out, const char *key, int64_t value)
{
    wf_text_printf(out, "  \"%s\": %lld,\n", key, (long long)value);
}

static void put_digests(const wf_history *history, wf_text *out)
{
    uint8_t chain[WF_SHA256_BYTES] = {0};
    char hex[WF_SHA256_HEX_BYTES];
    wf_text_append(out, "  \"step_digests\": [");
    for (size_t i = 0; i < history->n; i++) {
        wf_history_chain(chain, history->loss[i]);
        wf_sha256_hex(chain, hex);
        hex[WF_STEP_DIGEST_CHARS] = 0;
        wf_text_printf(out, "%s%s\"%s\"", i ? "," : "", i % 5 ? " " : "\n    ", hex);
    }
    wf_text_append(out, "\n  ]\n}\n");
}

static weft_status print_receipt(wf_trainer *t, const char *weights_sha256, wf_text *out,
                                 weft_error *err)
{
    char hex[WF_SHA256_HEX_BYTES];
    wf_text_append(out, "{\n");
    put_text(out, "weft", weft_version());
    put_integer(out, "arithmetic_version", WEFT_ARITHMETIC_VERSION);
    put_text(out, "arithmetic", t->recipe->v.arithmetic == WEFT_FAST ? "fast" : "exact");
    put_text(out, "storage", wf_recipe_storage_name(t->recipe));
    put_text(out, "device", weft_device_id(t->device));
    put_text(out, "device_name", weft_device_name(t->device));
    put_text(out, "isa", weft_device_isa(t->device) ? weft_device_isa(t->device) : "");
    put_integer(out, "threads", weft_device_n_threads(t->device));
    put_integer(out, "steps", t->step);
    put_integer(out, "total_steps", t->total_steps);
    WEFT_TRY(wf_recipe_digest(t->recipe, hex, err));
    put_text(out, "recipe_sha256", hex);
    WEFT_TRY(wf_train_data_digest(&t->data, hex, err));
    put_text(out, "data_sha256", hex);
    put_text(out, "weights_sha256", weights_sha256);
    WEFT_TRY(wf_weights_digest(&t->programs, hex, err));
    put_text(out, "weights_digest", hex);
    put_digests(&t->history, out);
    return wf_text_status(out, err);
}

weft_status wf_receipt_save(wf_trainer *t, const char *dir, const char *weights_sha256,
                            weft_error *err)
{
    wf_text text;
    char *path = NULL;
    wf_text_init(&text, &t->allocator);
    weft_status status = print_receipt(t, weights_sha256, &text, err);
    if (status == WEFT_OK)
        status = wf_path_join(&t->allocator, dir, FILE_NAME, &path, err);
    if (status == WEFT_OK)
        status = wf_file_write(&t->allocator, path, wf_text_str(&text), text.len, err);
    wf_free(&t->allocator, path);
    wf_text_deinit(&text);
    return status;
}

void wf_receipt_deinit(wf_receipt *receipt)
{
    wf_arena_deinit(&receipt->arena);
    memset(receipt, 0, sizeof *receipt);
}

#if WEFT_HAVE_CJSON

#include <cJSON.h>

static weft_status get_text(const cJSON *root, const char *path, const char *key, wf_arena *arena,
                            const char **out, weft_error *err)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(root, key);
    if (!cJSON_IsString(item))
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: no text '%s', expected one", path, key);
    *out = wf_arena_strdup(arena, item->valuestring);
    if (!*out)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the receipt");
    return WEFT_OK;
}

static weft_status read_root(const cJSON *root, const char *path, wf_receipt *r, weft_error *err)
{
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(root, "arithmetic_version");
    const cJSON *digests = cJSON_GetObjectItemCaseSensitive(root, "step_digests");
    const cJSON *item;
    if (!cJSON_IsNumber(version) || !cJSON_IsArray(digests))
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: no arithmetic_version or step_digests, expected both",
                  path);
    r->arithmetic_version = (int64_t)version->valuedouble;
    WEFT_TRY(get_text(root, path, "recipe_sha256", &r->arena, &r->recipe_sha256, err));
    WEFT_TRY(get_text(root, path, "data_sha256", &r->arena, &r->data_sha256, err));
    WEFT_TRY(get_text(root, path, "weights_digest", &r->arena, &r->weights_digest, err));
    const size_t n = (size_t)cJSON_GetArraySize(digests);
    r->step_digests = wf_arena_take(&r->arena, (n + 1) * sizeof *r->step_digests);
    if (!r->step_digests)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the receipt");
    cJSON_ArrayForEach(item, digests)
    {
        if (!cJSON_IsString(item) || strlen(item->valuestring) != WF_STEP_DIGEST_CHARS)
            WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: the digest of step %lld is damaged", path,
                      (long long)(r->n_steps + 1));
        const char *copy = wf_arena_strdup(&r->arena, item->valuestring);
        if (!copy)
            WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the receipt");
        r->step_digests[r->n_steps++] = copy;
    }
    return WEFT_OK;
}

static weft_status read_text(const char *text, const char *path, wf_receipt *r, weft_error *err)
{
    cJSON *root = cJSON_Parse(text);
    if (!root)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: no JSON, expected a receipt", path);
    const weft_status status = read_root(root, path, r, err);
    cJSON_Delete(root);
    return status;
}

#else

static weft_status read_text(const char *text, const char *path, wf_receipt *r, weft_error *err)
{
    (void)text;
    (void)r;
    WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: receipts are not read, built without cJSON", path);
}

#endif

weft_status wf_receipt_load(const wf_allocator *a, const char *dir, wf_receipt *out_receipt,
                            weft_error *err)
{
    char *path = NULL, *text = NULL;
    memset(out_receipt, 0, sizeof *out_receipt);
    wf_arena_init(&out_receipt->arena, a);
    weft_status status = wf_path_join(a, dir, FILE_NAME, &path, err);
    if (status == WEFT_OK && !wf_file_is_regular(path))
        status =
            wf_error_set(err, WEFT_ERR_FILE,
                         "%s: no " FILE_NAME " in it, expected a run that came to its end", dir);
    if (status == WEFT_OK)
        status = wf_file_read_text(a, path, &text, err);
    if (status == WEFT_OK)
        status = read_text(text, path, out_receipt, err);
    wf_free(a, text);
    wf_free(a, path);
    if (status != WEFT_OK)
        wf_receipt_deinit(out_receipt);
    return status;
}
