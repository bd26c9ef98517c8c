// Reads .npz: a zip archive of .npy files, stored or deflated, by libzip.
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "io/npy.h"
#include "weft_config.h"

#if WEFT_HAVE_LIBZIP
#include <zip.h>

// Deflate packs at most this many bytes into one: what claims more is no archive of ours.
#define MOST_PER_BYTE 1032
// Members that are looked at.
#define MEMBERS_MAX 65536

struct wf_npz {
    wf_allocator allocator;
    zip_t *zip;
    char *path;
    char **name; // [n] without ".npy"
    uint64_t *member;
    size_t n;
};

static weft_status list_members(wf_npz *z, weft_error *err)
{
    const zip_int64_t n = zip_get_num_entries(z->zip, 0);
    if (n < 0 || n > MEMBERS_MAX)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: %lld members, expected at most %d", z->path,
                  (long long)n, MEMBERS_MAX);
    WEFT_TRY(wf_alloc(&z->allocator, (size_t)n, sizeof *z->name, &z->name, err));
    WEFT_TRY(wf_alloc(&z->allocator, (size_t)n, sizeof *z->member, &z->member, err));
    for (zip_int64_t i = 0; i < n; i++) {
        const char *name = zip_get_name(z->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        const size_t length = name ? strlen(name) : 0;
        if (length < 5 || strcmp(name + length - 4, ".npy") != 0)
            continue;
        WEFT_TRY(wf_strdup(&z->allocator, name, &z->name[z->n], err));
        z->name[z->n][length - 4] = 0;
        z->member[z->n++] = (uint64_t)i;
    }
    return WEFT_OK;
}

weft_status wf_npz_open(const wf_allocator *a, const char *path, wf_npz **out, weft_error *err)
{
    wf_npz *z;
    weft_status status;
    int code = 0;
    wf_file_map map; // says why a file cannot be opened as all others do
    *out = NULL;
    WEFT_TRY(wf_file_map_open(path, &map, err));
    wf_file_map_close(&map);
    WEFT_TRY(wf_alloc(a, 1, sizeof *z, &z, err));
    z->allocator = *a;
    WEFT_TRY_GOTO(wf_strdup(a, path, &z->path, err));
    z->zip = zip_open(path, ZIP_RDONLY | ZIP_CHECKCONS, &code);
    if (!z->zip) {
        zip_error_t why;
        zip_error_init_with_code(&why, code);
        status = wf_error_set(err, WEFT_ERR_FORMAT, "%s: no zip archive (%s)", path,
                              zip_error_strerror(&why));
        zip_error_fini(&why);
        goto fail;
    }
    WEFT_TRY_GOTO(list_members(z, err));
    *out = z;
    return WEFT_OK;
fail:
    wf_npz_close(z);
    return status;
}

size_t wf_npz_count(const wf_npz *z)
{
    return z->n;
}

const char *wf_npz_name(const wf_npz *z, size_t idx)
{
    return idx < z->n ? z->name[idx] : NULL;
}

static weft_status read_member(wf_npz *z, uint64_t member, const char *source, uint8_t **data,
                               size_t *out_size, weft_error *err)
{
    zip_stat_t about;
    zip_stat_init(&about);
    const zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
    if (zip_stat_index(z->zip, member, 0, &about) != 0 || (about.valid & wanted) != wanted ||
        about.size > PTRDIFF_MAX || about.size / MOST_PER_BYTE > about.comp_size)
        WEFT_FAIL(err, WEFT_ERR_FORMAT, "%s: its sizes in the archive cannot be true", source);
    WEFT_TRY(wf_alloc(&z->allocator, (size_t)about.size, 1, data, err));
    zip_file_t *file = zip_fopen_index(z->zip, member, 0);
    zip_int64_t n = file ? zip_fread(file, *data, about.size) : -1;
    // The checksum is compared at the end of the data, when one more byte is asked for.
    uint8_t more;
    const bool is_whole = file && n == (zip_int64_t)about.size && zip_fread(file, &more, 1) == 0;
    if (!is_whole)
        wf_error_set(err, WEFT_ERR_FORMAT, "%s: damaged (%s)", source,
                     file ? zip_file_strerror(file) : zip_strerror(z->zip));
    if (file)
        zip_fclose(file);
    *out_size = (size_t)about.size;
    return is_whole ? WEFT_OK : WEFT_ERR_FORMAT;
}

weft_status wf_npz_read(wf_npz *z, const char *name, wf_npy *out, weft_error *err)
{
    uint8_t *data = NULL;
    size_t size = 0, i = 0;
    wf_text source;
    memset(out, 0, sizeof *out);
    while (i < z->n && strcmp(z->name[i], name) != 0)
        i++;
    if (i == z->n)
        WEFT_FAIL(err, WEFT_ERR_NAME, "%s: no array '%s'", z->path, name);
    wf_text_init(&source, &z->allocator);
    wf_text_printf(&source, "%s: array '%s'", z->path, name);
    weft_status status = read_member(z, z->member[i], wf_text_str(&source), &data, &size, err);
    if (status == WEFT_OK)
        status = wf_npy_parse(&z->allocator, wf_text_str(&source), data, size, out, err);
    wf_free(&z->allocator, data);
    wf_text_deinit(&source);
    return status;
}

void wf_npz_close(wf_npz *z)
{
    if (!z)
        return;
    if (z->zip)
        zip_discard(z->zip);
    for (size_t i = 0; i < z->n; i++)
        wf_free(&z->allocator, z->name[i]);
    wf_free(&z->allocator, z->name);
    wf_free(&z->allocator, z->member);
    wf_free(&z->allocator, z->path);
    wf_free(&z->allocator, z);
}

#else

weft_status wf_npz_open(const wf_allocator *a, const char *path, wf_npz **out, weft_error *err)
{
    (void)a;
    *out = NULL;
    WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: this build has no libzip to read npz with", path);
}

size_t wf_npz_count(const wf_npz *z)
{
    (void)z;
    return 0;
}

const char *wf_npz_name(const wf_npz *z, size_t idx)
{
    (void)z;
    (void)idx;
    return NULL;
}

weft_status wf_npz_read(wf_npz *z, const char *name, wf_npy *out, weft_error *err)
{
    (void)z;
    memset(out, 0, sizeof *out);
    WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "npz: no array '%s', this build has no libzip", name);
}

void wf_npz_close(wf_npz *z)
{
    (void)z;
}

#endif
