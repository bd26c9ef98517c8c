// Pictures in a run's folder. In: an image, or the cells of a sheet. Out: a PNG file.
#include "train/pictures.h"

weft_status wf_picture_save(const wf_allocator *a, const char *dir, const char *name,
                            const wf_image *image, weft_error *err)
{
    char *path;
    WEFT_TRY(wf_path_join(a, dir, name, &path, err));
    const weft_status status = wf_png_write(a, path, image, err);
    wf_free(a, path);
    return status;
}

weft_status wf_sheet_save(const wf_allocator *a, const char *dir, const wf_sheet_cell *cells,
                          int32_t n_cells, int32_t n_columns, weft_error *err)
{
    wf_image image;
    WEFT_TRY(wf_sheet_draw(a, cells, n_cells, n_columns, &image, err));
    const weft_status status = wf_picture_save(a, dir, "predictions.png", &image, err);
    wf_image_deinit(&image);
    return status;
}
