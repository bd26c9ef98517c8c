// Groups of parameters: settings of their own, by a pattern over names.
#include <string.h>

#include "nn/nn_builder.h"

// "*" any characters, "?" one. Goes back to the last star only: linear in practice, and no recursion.
bool wf_nn_name_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *from = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            from = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return !*pattern;
}

size_t weft_nn_group(weft_nn *nn, const char *pattern, const weft_group_options *options)
{
    static const weft_group_options defaults = WEFT_GROUP_OPTIONS_INIT;
    const weft_group_options *o = options ? options : &defaults;
    weft_graph *g = wf_nn_begin(nn);
    size_t n = 0;
    if (!g || !pattern || !wf_nn_options_check(g, "group", o->struct_size, sizeof *o))
        return 0;
    if (!(o->lr_factor >= 0.0) || !(o->weight_decay >= 0.0)) {
        wf_graph_fail(g, NULL, WEFT_ERR_ATTR,
                      "group '%s': lr_factor %g, weight_decay %g, expected 0 or more", pattern,
                      o->lr_factor, o->weight_decay);
        return 0;
    }
    for (size_t i = 0; i < nn->n_parameters; i++) {
        weft_parameter *p = &nn->parameters[i];
        if (!wf_nn_name_matches(pattern, p->name))
            continue;
        p->is_trainable = !o->is_frozen;
        p->lr_factor = o->lr_factor;
        p->has_own_decay = o->has_own_decay;
        p->weight_decay = o->weight_decay;
        p->is_left_to_adamw = o->is_left_to_adamw;
        n++;
    }
    if (n == 0)
        wf_graph_fail(g, NULL, WEFT_ERR_NAME,
                      "group '%s': no parameter has such a name, expected one like '%s'", pattern,
                      nn->n_parameters ? nn->parameters[0].name : "conv1.weight");
    return n;
}
