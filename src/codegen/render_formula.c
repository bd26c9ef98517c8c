// Formulas, casts and types as text: the arithmetic of single values. See render_text.h.
#include <string.h>

#include "codegen/render_text.h"

const char *wf_render_type(const wf_renderer *r, weft_dtype dtype)
{
    switch (dtype) {
    case WEFT_F32: return "wf_f32";
    case WEFT_F64: return r->options->has_f64 ? "wf_f64" : "wf_u64";
    case WEFT_F16:
    case WEFT_BF16: return "wf_u16";
    case WEFT_I8: return "wf_i8";
    case WEFT_U8:
    case WEFT_BOOL: return "wf_u8";
    case WEFT_I32: return "wf_i32";
    case WEFT_I64: return "wf_i64";
    default: return "void";
    }
}

static const char *unsigned_type(weft_dtype dtype)
{
    switch (dtype) {
    case WEFT_I32: return "wf_u32";
    case WEFT_I64: return "wf_u64";
    case WEFT_F32: return "wf_u32";
    default: return "wf_u8";
    }
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
}

// Does '-' or '*' at f[i] stand between two operands? (f[i] is a sign or a dereference otherwise.)
static bool is_binary(const char *f, size_t i)
{
    while (i > 0 && f[i - 1] == ' ')
        i--;
    return i > 0 && (is_name_char(f[i - 1]) || f[i - 1] == ')' || f[i - 1] == ']');
}

#define MAX_DEPTH 32 // parentheses in a formula: deeper is not a formula any more

bool wf_render_has_bare_product(const char *formula)
{
    // Per open group of parentheses: has it a sum, has it a product that is not hidden in a call's argument?
    bool sum[MAX_DEPTH] = {false};
    bool product[MAX_DEPTH] = {false};
    bool is_call[MAX_DEPTH] = {false};
    size_t depth = 0;
    for (size_t i = 0; formula[i]; i++) {
        char c = formula[i];
        if (c == '(') {
            if (++depth == MAX_DEPTH)
                return true;
            sum[depth] = product[depth] = false;
            is_call[depth] = i > 0 && is_name_char(formula[i - 1]);
        } else if (c == ')' && depth > 0) {
            if (sum[depth] && product[depth])
                return true;
            // (a * b) + c is as bare as a * b + c; f(a * b) + c is not.
            if (!is_call[depth]) {
                product[depth - 1] |= product[depth];
                // (a + b) * c is no contraction: a sum inside does not leak out.
            }
            depth--;
        } else if (c == ',' || c == '?' || c == ':' || c == ';' || c == '<' || c == '>' ||
                   c == '=') {
            if (sum[depth] && product[depth])
                return true;
            sum[depth] = product[depth] = false;
        } else if (c == '*' && is_binary(formula, i)) {
            product[depth] = true;
        } else if (c == '+' || c == '-') {
            // The exponent of 1e-3f is no sum.
            bool is_exponent = i > 1 && (formula[i - 1] == 'e' || formula[i - 1] == 'E') &&
                               formula[i - 2] >= '0' && formula[i - 2] <= '9';
            if (!is_exponent && is_binary(formula, i))
                sum[depth] = true;
        }
    }
    return sum[0] && product[0];
}

static bool is_first_use(const wf_kernel *k, size_t i)
{
    const wf_inst *inst = &k->insts[i];
    weft_dtype dtype = k->insts[inst->args[0]].dtype;
    for (size_t j = 0; j < i; j++) {
        const wf_inst *other = &k->insts[j];
        if (other->kind == WF_INST_APPLY && other->op == inst->op &&
            k->insts[other->args[0]].dtype == dtype) {
            return false;
        }
    }
    return true;
}

static void render_formula(wf_renderer *r, const wf_inst *inst)
{
    weft_dtype dtype = r->k->insts[inst->args[0]].dtype;
    const wf_elementwise *e = inst->op->elementwise;
    bool is_float = wf_dtype_is_float(dtype);
    const char *formula = !e ? NULL : is_float ? e->formula_f32 : e->formula_int;
    if (!formula || (is_float && dtype != WEFT_F32)) {
        r->status = wf_error_set(r->err, WEFT_ERR_UNSUPPORTED, "%s: no formula for %s",
                                 inst->op->name, weft_dtype_name(dtype));
        return;
    }
    if (is_float && wf_render_has_bare_product(formula)) {
        r->status = wf_error_set(r->err, WEFT_ERR_INTERNAL,
                                 "%s: a product beside a sum in '%s', WF_FMA was expected",
                                 inst->op->name, formula);
        return;
    }
    const char *type = wf_render_type(r, dtype);
    const char *result = wf_render_type(r, inst->dtype);
    wf_text_printf(r->text, "WF_FN %s wf_apply_%s_%s(", result, inst->op->name,
                   weft_dtype_name(dtype));
    for (uint32_t i = 0; i < e->n_args; i++) {
        wf_text_printf(r->text, "%s%s %c", i ? ", " : "", type, "abc"[i]);
    }
    wf_text_append(r->text, ")\n{\n");
    if (!is_float) {
        wf_text_printf(r->text, "    typedef %s T;\n    typedef %s U;\n", type,
                       unsigned_type(dtype));
    }
    // A bool is 0 or 1, whatever the formula leaves in the other bits (not, shl).
    const char *form =
        inst->dtype == WEFT_BOOL ? "    return (%s)((%s) & 1);\n}\n" : "    return (%s)(%s);\n}\n";
    wf_text_printf(r->text, form, result, formula);
}

void wf_render_formulas(wf_renderer *r)
{
    for (size_t i = 0; i < r->k->n_insts && r->status == WEFT_OK; i++) {
        const wf_inst *inst = &r->k->insts[i];
        if (inst->kind == WF_INST_APPLY && is_first_use(r->k, i))
            render_formula(r, inst);
    }
}

void wf_render_apply(wf_renderer *r, const wf_inst *inst)
{
    wf_text_printf(r->text, "wf_apply_%s_%s(", inst->op->name,
                   weft_dtype_name(r->k->insts[inst->args[0]].dtype));
    for (uint32_t i = 0; i < inst->n_args; i++) {
        wf_text_printf(r->text, "%sv%u", i ? ", " : "", inst->args[i]);
    }
    wf_text_append(r->text, ")");
}

// wf_cast_<from>_<to> of gpu_cast.h; between integers the language's own conversion wraps.
void wf_render_cast(wf_renderer *r, const wf_inst *inst)
{
    weft_dtype from = r->k->insts[inst->args[0]].dtype;
    weft_dtype to = inst->dtype;
    if (from == to) {
        wf_text_printf(r->text, "v%u", inst->args[0]);
    } else if (!wf_dtype_is_float(from) && to == WEFT_BOOL) {
        wf_text_printf(r->text, "(wf_u8)(v%u != 0)", inst->args[0]);
    } else if (!wf_dtype_is_float(from) && !wf_dtype_is_float(to)) {
        wf_text_printf(r->text, "(%s)v%u", wf_render_type(r, to), inst->args[0]);
    } else {
        if ((from == WEFT_F64 || to == WEFT_F64) && !r->options->has_f64) {
            r->status =
                wf_error_set(r->err, WEFT_ERR_UNSUPPORTED, "cast: %s to %s on a device without f64",
                             weft_dtype_name(from), weft_dtype_name(to));
        }
        wf_text_printf(r->text, "wf_cast_%s_%s(v%u)", weft_dtype_name(from), weft_dtype_name(to),
                       inst->args[0]);
    }
}
