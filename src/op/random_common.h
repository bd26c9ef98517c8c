// What the planner needs of a random node: which numbers, and its attributes.
#ifndef WF_OP_RANDOM_COMMON_H
#define WF_OP_RANDOM_COMMON_H

#include "op/op.h"

typedef enum wf_random_form {
    WF_RANDOM_FORM_BITS,
    WF_RANDOM_FORM_UNIFORM,
    WF_RANDOM_FORM_NORMAL
} wf_random_form;

enum { WF_RANDOM_ATTR_DIMS, WF_RANDOM_ATTR_KIND, WF_RANDOM_ATTR_STREAM };

// False for a kind that no version knows; infer refuses it.
bool wf_random_form_get(const wf_node_info *info, wf_random_form *out_form);

#endif
