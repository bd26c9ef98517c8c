// The order of the passes.
#include "pass/pass.h"

extern const wf_pass wf_pass_dead, wf_pass_expand, wf_pass_canonical, wf_pass_simplify,
    wf_pass_fold, wf_pass_lift, wf_pass_join, wf_pass_cse, wf_pass_trim, wf_pass_again,
    wf_pass_widen;

// canonical is part of the arithmetic: it comes after expand, so that expansions pass through it,
// and before everything that must keep its bits. simplify runs again after fold, which makes
// constants it can use, and behind lift, which makes views of views. join looks for what simplify has left of
// sums. trim needs dead before it, to know what is read, and behind it, inside regions.
// dead is first, so that nothing is done for values nobody wants, and once more behind what makes some so. again and
// widen come behind cse, which would undo them.
const wf_pass *const wf_pass_list[] = {
    &wf_pass_dead,     &wf_pass_trim, &wf_pass_dead,  &wf_pass_expand,   &wf_pass_canonical,
    &wf_pass_simplify, &wf_pass_fold, &wf_pass_lift,  &wf_pass_simplify, &wf_pass_join,
    &wf_pass_cse,      &wf_pass_dead, &wf_pass_again, &wf_pass_dead,     &wf_pass_widen,
};
const size_t wf_n_passes = WF_COUNT_OF(wf_pass_list);
