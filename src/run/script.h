// A script inside: a flat list of nodes, the values they name, and for each program node the programs it has
// been compiled to. Stage: RUN.
#ifndef WF_RUN_SCRIPT_H
#define WF_RUN_SCRIPT_H

#include "run/run_internal.h"
#include "weft/script.h"

#define WF_SCRIPT_PROGRAMS 8 // kept for each program node

typedef struct wf_script_value {
    const char *name;
    weft_type type; // dtype none: nothing has written it
    void *data;
    size_t size_bytes, capacity_bytes;
} wf_script_value;

typedef struct wf_script_names {
    uint32_t *v; // of the script's values
    uint32_t n;
} wf_script_names;

// What a program node has been compiled to for one set of types.
typedef struct wf_script_compiled {
    weft_program *program;
    weft_type *types; // of the values read, then of those written
    uint64_t used;    // when, in runs of programs
} wf_script_compiled;

typedef struct wf_script_node wf_script_node;

typedef struct wf_script_kind {
    const char *name;
    bool is_block;
    // Runs node `at` and what it holds; *out_next is where to go on.
    weft_status (*run)(weft_script *s, uint32_t at, uint32_t *out_next, weft_error *err);
} wf_script_kind;

struct wf_script_node {
    const wf_script_kind *kind;
    const char *name, *signature;
    wf_script_names reads, writes;
    weft_script_build build;
    weft_script_function function;
    void *user;
    int32_t depth;
    uint32_t behind; // of a block: the first node behind it; of an if with an else: the else
    wf_script_compiled compiled[WF_SCRIPT_PROGRAMS];
};

struct weft_script {
    weft_state *state;
    wf_arena arena; // names and signatures
    wf_script_node *nodes;
    size_t n_nodes, nodes_capacity;
    wf_script_value *values;
    size_t n_values, values_capacity;
    uint32_t *open; // blocks without an end
    size_t n_open, open_capacity;
    const wf_script_node *running; // the host node that is being called
    bool is_running;
    uint64_t n_runs; // of programs
    weft_status status;
    weft_error error;
};

extern const wf_script_kind wf_script_kind_program, wf_script_kind_host, wf_script_kind_if,
    wf_script_kind_else, wf_script_kind_loop, wf_script_kind_while;

// WEFT_OK, or the first error in building.
weft_status wf_script_status(const weft_script *s, weft_error *err);
// The value of that name; NULL with an error when no node names it.
wf_script_value *wf_script_find(const weft_script *s, const char *name, weft_error *err);
// Gives a value that type, and memory for it: what it held is lost.
weft_status wf_script_value_reset(weft_script *s, wf_script_value *value, const weft_type *type,
                                  weft_error *err);
// A scalar bool, i32 or i64.
weft_status wf_script_value_number(const wf_script_value *value, int64_t *out, weft_error *err);

// Runs a program node: builds and compiles it where its types are new.
weft_status wf_script_program_run(weft_script *s, wf_script_node *node, weft_error *err);
void wf_script_program_deinit(const weft_script *s, wf_script_node *node);

#endif
