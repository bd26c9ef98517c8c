// The nearest word of a list, for "did you mean": Levenshtein's distance by the usual two rows, with
// a swap of neighbours counted as one change (the commonest typo).
#include <string.h>

#include "base/text.h"

// Longer words are compared by their first letters.
#define WORD_MAX 64

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(const char *a, const char *b)
{
    size_t n_a = strlen(a), n_b = strlen(b);
    // row[i] is the distance of the first i letters of a to the letters of b so far: three rows, the
    // one before the last for swaps.
    size_t rows[3][WORD_MAX + 1];
    n_a = smaller(n_a, WORD_MAX);
    n_b = smaller(n_b, WORD_MAX);
    for (size_t i = 0; i <= n_a; i++)
        rows[0][i] = i;
    for (size_t j = 1; j <= n_b; j++) {
        size_t *row = rows[j % 3];
        const size_t *last = rows[(j + 2) % 3];
        const size_t *before = rows[(j + 1) % 3];
        row[0] = j;
        for (size_t i = 1; i <= n_a; i++) {
            size_t changed = last[i - 1] + (a[i - 1] != b[j - 1]);
            row[i] = smaller(changed, smaller(last[i], row[i - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[i] = smaller(row[i], before[i - 2] + 1);
        }
    }
    return rows[n_b % 3][n_a];
}

const char *wf_text_nearest(const char *word, const char *const *list, size_t n)
{
    size_t len = strlen(word);
    size_t best = len / 3 > 2 ? len / 3 : 2;
    const char *nearest = NULL;
    // A word of two letters is two changes from every other word of two letters.
    if (best >= len)
        best = len ? len - 1 : 0;
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(word, list[i]);
        if (d < best || (d == best && !nearest)) {
            best = d;
            nearest = list[i];
        }
    }
    return nearest;
}
