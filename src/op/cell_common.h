// What lstm_cell and gru_cell share: operands x, p [b,gates*h] and a state [b,h], all f32.
#ifndef WF_OP_CELL_COMMON_H
#define WF_OP_CELL_COMMON_H

#include "op/check_case.h"

// state: what a message calls it. The results have the state's type.
weft_status wf_infer_cell(const wf_node_info *info, int64_t n_gates, char state, weft_type *out,
                          weft_error *err);
wf_cost wf_cost_cell(const wf_node_info *info);
void wf_cell_add_cases(wf_check_list *list, int64_t n_gates,
                       weft_val (*build)(weft_graph *g, const weft_val *in, const int64_t *p));

#endif
