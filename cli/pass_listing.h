// The passes over memory of a training step: weft inspect --passes.
#ifndef CLI_PASS_LISTING_H
#define CLI_PASS_LISTING_H

#include "run_verb.h"

// Prints them for a batch of that size (0: the recipe's). Returns an exit code.
int cli_list_passes(const cli_run *run, int64_t batch, bool is_json);

#endif
