// Appends lines of JSON to a run's log. Nothing in them depends on time or machine.
#include "train/run_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

static weft_status fail(const wf_run_log *log, weft_error *err)
{
    WEFT_FAIL(err, WEFT_ERR_FILE, "cannot write %s: %s", log->path, strerror(errno));
}

weft_status wf_run_log_open(const wf_allocator *a, const char *dir, int64_t keep_bytes,
                            wf_run_log *out, weft_error *err)
{
    memset(out, 0, sizeof *out);
    out->file = -1;
    wf_text_init(&out->line, a);
    WEFT_TRY(wf_path_join(a, dir, "log.jsonl", &out->path, err));
    out->file = open(out->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (out->file < 0)
        return fail(out, err);
    const off_t end = lseek(out->file, 0, SEEK_END);
    // A log that lost its end (the power went) is kept as it is.
    out->size_bytes = end < (off_t)keep_bytes ? (int64_t)end : keep_bytes;
    if (end < 0 || ftruncate(out->file, (off_t)out->size_bytes) != 0 ||
        lseek(out->file, 0, SEEK_END) < 0)
        return fail(out, err);
    return WEFT_OK;
}

static weft_status write_line(wf_run_log *log, weft_error *err)
{
    WEFT_TRY(wf_text_status(&log->line, err));
    const char *data = log->line.data;
    size_t left = log->line.len;
    while (left > 0) {
        const ssize_t n = write(log->file, data, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(log, err);
        data += n;
        left -= (size_t)n;
    }
    log->size_bytes += (int64_t)log->line.len;
    return WEFT_OK;
}

weft_status wf_run_log_step(wf_run_log *log, const weft_step_event *e, weft_error *err)
{
    wf_text *line = &log->line;
    wf_text_clear(line);
    wf_text_printf(line,
                   "{\"event\":\"step\",\"step\":%lld,\"epoch\":%lld,\"loss\":", (long long)e->step,
                   (long long)e->epoch);
    wf_text_append_json_f32(line, e->loss);
    wf_text_append(line, ",\"lr\":");
    wf_text_append_json_f32(line, e->lr);
    wf_text_append(line, "}\n");
    return write_line(log, err);
}

weft_status wf_run_log_epoch(wf_run_log *log, const weft_epoch_event *e, weft_error *err)
{
    wf_text *line = &log->line;
    wf_text_clear(line);
    wf_text_printf(line,
                   "{\"event\":\"epoch\",\"epoch\":%lld,\"train_loss\":", (long long)e->epoch);
    wf_text_append_json_f32(line, e->train_loss);
    wf_text_append(line, ",\"val_loss\":");
    wf_text_append_json_f64(line, e->val_loss);
    wf_text_append(line, ",\"val_accuracy\":");
    wf_text_append_json_f64(line, e->val_accuracy);
    wf_text_append(line, "}\n");
    return write_line(log, err);
}

weft_status wf_run_log_statistics(wf_run_log *log, int64_t step, const wf_statistics *statistics,
                                  weft_error *err)
{
    const wf_statistic_names *names = statistics->names;
    wf_text *line = &log->line;
    wf_text_clear(line);
    wf_text_printf(line, "{\"event\":\"statistics\",\"step\":%lld,\"parameters\":[",
                   (long long)step);
    for (size_t i = 0; i < names->n_parameters; i++) {
        wf_text_append(line, i ? ",{\"name\":" : "{\"name\":");
        wf_text_append_json_string(line, names->parameters[i]);
        wf_text_append(line, ",\"gradient_norm\":");
        wf_text_append_json_f32(line, statistics->steps[2 * i]);
        wf_text_append(line, ",\"update_ratio\":");
        wf_text_append_json_f32(line, statistics->steps[2 * i + 1]);
        wf_text_append(line, "}");
    }
    wf_text_append(line, "],\"dead\":[");
    for (size_t i = 0; i < names->n_units; i++) {
        wf_text_append(line, i ? ",{\"name\":" : "{\"name\":");
        wf_text_append_json_string(line, names->units[i]);
        wf_text_append(line, ",\"share\":");
        wf_text_append_json_f32(line, statistics->dead[i]);
        wf_text_append(line, "}");
    }
    wf_text_append(line, "]}\n");
    return write_line(log, err);
}

weft_status wf_run_log_sync(wf_run_log *log, weft_error *err)
{
    return fsync(log->file) == 0 ? WEFT_OK : fail(log, err);
}

void wf_run_log_close(wf_run_log *log)
{
    const wf_allocator a = log->line.allocator;
    if (log->file >= 0)
        close(log->file);
    log->file = -1;
    wf_free(&a, log->path);
    log->path = NULL;
    wf_text_deinit(&log->line);
}
