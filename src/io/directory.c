// Reads folders.
#include "io/directory.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static int compare_names(const void *a, const void *b)
{
    const wf_entry *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static weft_status add_entry(wf_directory *d, const char *path, const char *name, size_t *capacity,
                             weft_error *err)
{
    char *whole;
    WEFT_TRY(wf_path_join(&d->allocator, path, name, &whole, err));
    const bool is_directory = wf_file_is_directory(whole);
    const bool is_wanted = is_directory || wf_file_is_regular(whole);
    wf_free(&d->allocator, whole);
    if (!is_wanted)
        return WEFT_OK;
    WEFT_TRY(wf_array_reserve(&d->allocator, &d->v, capacity, d->n + 1, sizeof *d->v, err));
    d->v[d->n].is_directory = is_directory;
    WEFT_TRY(wf_strdup(&d->allocator, name, &d->v[d->n].name, err));
    d->n++;
    return WEFT_OK;
}

weft_status wf_directory_read(const wf_allocator *a, const char *path, wf_directory *out,
                              weft_error *err)
{
    size_t capacity = 0;
    weft_status status = WEFT_OK;
    memset(out, 0, sizeof *out);
    out->allocator = *a;
    DIR *dir = opendir(path);
    if (!dir)
        WEFT_FAIL(err, WEFT_ERR_FILE, "cannot open folder %s: %s", path, strerror(errno));
    for (struct dirent *e; status == WEFT_OK && (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] != '.')
            status = add_entry(out, path, e->d_name, &capacity, err);
    }
    closedir(dir);
    if (status != WEFT_OK)
        wf_directory_deinit(out);
    else if (out->n)
        qsort(out->v, out->n, sizeof *out->v, compare_names);
    return status;
}

void wf_directory_deinit(wf_directory *d)
{
    for (size_t i = 0; i < d->n; i++)
        wf_free(&d->allocator, d->v[i].name);
    if (d->v)
        wf_free(&d->allocator, d->v);
    d->v = NULL;
    d->n = 0;
}
