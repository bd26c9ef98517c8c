// Numbers to text and back, independent of the locale. The C library converts with one correct
// rounding; what is ours is the "C" locale around it, the strict syntax and the shortest form.
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

// Switches the calling thread to the "C" locale and back.
typedef struct {
    locale_t c_locale;
    locale_t before;
} locale_switch;

static locale_switch enter_c_locale(void)
{
    locale_switch s = {newlocale(LC_ALL_MASK, "C", (locale_t)0), (locale_t)0};
    if (s.c_locale)
        s.before = uselocale(s.c_locale);
    return s;
}

static void leave_c_locale(locale_switch s)
{
    if (!s.c_locale)
        return;
    uselocale(s.before);
    freelocale(s.c_locale);
}

// NaN and infinities, whose text the C library leaves to the platform. NULL for the others.
static const char *special_name(double value)
{
    if (value != value)
        return "nan";
    if (value - value != 0.0)
        return value > 0.0 ? "inf" : "-inf";
    return NULL;
}

void wf_text_format_f32(float value, char out[WF_TEXT_NUMBER_BYTES])
{
    const char *special = special_name((double)value);
    if (special) {
        strcpy(out, special);
        return;
    }
    locale_switch s = enter_c_locale();
    // Nine digits tell all f32 apart; most need fewer.
    for (int digits = 1; digits <= 9; digits++) {
        snprintf(out, WF_TEXT_NUMBER_BYTES, "%.*g", digits, (double)value);
        if (strtof(out, NULL) == value)
            break;
    }
    leave_c_locale(s);
}

void wf_text_format_f64(double value, char out[WF_TEXT_NUMBER_BYTES])
{
    const char *special = special_name(value);
    if (special) {
        strcpy(out, special);
        return;
    }
    locale_switch s = enter_c_locale();
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, WF_TEXT_NUMBER_BYTES, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    leave_c_locale(s);
}

// [+-] (digits [. digits*] | . digits) [e [+-] digits], or [+-] inf | nan. strtod alone would also
// take blanks, hexadecimal, "infinity" and "nan(...)".
static bool is_number(const char *s)
{
    size_t n_digits = 0;
    if (*s == '+' || *s == '-')
        s++;
    if (!strcmp(s, "inf") || !strcmp(s, "nan"))
        return true;
    for (; *s >= '0' && *s <= '9'; s++)
        n_digits++;
    if (*s == '.') {
        for (s++; *s >= '0' && *s <= '9'; s++)
            n_digits++;
    }
    if (n_digits == 0)
        return false;
    if (*s == 'e' || *s == 'E') {
        s++;
        if (*s == '+' || *s == '-')
            s++;
        if (*s < '0' || *s > '9')
            return false;
        while (*s >= '0' && *s <= '9')
            s++;
    }
    return *s == 0;
}

bool wf_text_parse_f32(const char *str, float *out)
{
    *out = 0.0f;
    if (!is_number(str))
        return false;
    locale_switch s = enter_c_locale();
    *out = strtof(str, NULL);
    leave_c_locale(s);
    return true;
}

bool wf_text_parse_f64(const char *str, double *out)
{
    *out = 0.0;
    if (!is_number(str))
        return false;
    locale_switch s = enter_c_locale();
    *out = strtod(str, NULL);
    leave_c_locale(s);
    return true;
}

bool wf_text_parse_u64(const char *str, uint64_t *out)
{
    uint64_t value = 0;
    *out = 0;
    if (!*str)
        return false;
    for (; *str; str++) {
        if (*str < '0' || *str > '9')
            return false;
        uint64_t digit = (uint64_t)(*str - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

bool wf_text_parse_i64(const char *str, int64_t *out)
{
    uint64_t magnitude;
    bool is_negative = *str == '-';
    *out = 0;
    if (*str == '-' || *str == '+')
        str++;
    if (!wf_text_parse_u64(str, &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + (is_negative ? 1u : 0u))
        return false;
    // Written so that the most negative value never passes through its positive twin.
    if (is_negative)
        *out = magnitude ? -(int64_t)(magnitude - 1) - 1 : 0;
    else
        *out = (int64_t)magnitude;
    return true;
}
