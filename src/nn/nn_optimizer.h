// What the optimisers share: this step's scalars, state variables by name, moving averages. One file per
// optimiser, nn_optimizer_NAME.c; nn_optimizer.c has their table.
#ifndef WF_NN_NN_OPTIMIZER_H
#define WF_NN_NN_OPTIMIZER_H

#include "nn/nn_builder.h"

typedef struct wf_update {
    weft_nn *nn;
    weft_graph *g;
    const weft_optimizer_options *o;
    double beta1, beta2, epsilon, momentum; // the options', or the kind's own where they are 0
    weft_val base_lr;                       // [] f32 of this step
    // Of the parameter at hand.
    weft_val lr;  // its group's share of base_lr
    double decay; // 0: none
    // Of Adam and its kin, [] f32: 1 - beta1^t and sqrt(1 - beta2^t).
    weft_val correction1, root_correction2;
    weft_val t; // f32 of step + 1
} wf_update;

// Builds the new value of a parameter; state that it keeps is assigned here, flushed.
typedef weft_val wf_update_build(wf_update *u, const weft_parameter *p, weft_val grad);

typedef struct wf_optimizer {
    const char *name;
    void (*prepare)(wf_update *u); // scalars that all parameters share; NULL: none
    wf_update_build *build;
    double beta1, beta2, epsilon, momentum; // where options say 0; 0: it has none
} wf_optimizer;

extern const wf_optimizer wf_optimizer_sgd, wf_optimizer_adam, wf_optimizer_adamw,
    wf_optimizer_rmsprop, wf_optimizer_adagrad, wf_optimizer_lamb, wf_optimizer_lion,
    wf_optimizer_muon;

// The variable "<parameter>.<suffix>", filled with value at first.
weft_val wf_update_state(wf_update *u, const weft_parameter *p, const char *suffix, double value);
// beta * old + (1 - beta) * x of that variable, flushed and assigned.
weft_val wf_update_average(wf_update *u, const weft_parameter *p, const char *suffix, double beta,
                           weft_val x);
// grad + decay * parameter
weft_val wf_update_add_decay(wf_update *u, const weft_parameter *p, weft_val grad);
// parameter * (1 - lr * decay)
weft_val wf_update_shrink(wf_update *u, const weft_parameter *p);
// Adam's bias corrections of this step.
void wf_update_prepare_corrections(wf_update *u);
weft_val wf_update_adamw(wf_update *u, const weft_parameter *p, weft_val grad);

#endif
