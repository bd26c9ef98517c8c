// A graph as text, one node a line, which parse.c reads back:
//
//   weft graph 1
//   %1 = input {name="x", dtype=f32, dims=[8,64]} -> f32[8,64]
//   %2 = relu(%1) @"mlp/hidden" -> f32[8,64]
//   output "y" = %2
//
// A region stands in its node's attributes, between ( and ), line by line like a graph.
// Floats are printed as hexadecimal doubles where decimal digits would not come back equal; data is
// printed as hexadecimal bytes.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "graph/graph.h"
#include "graph/op_info.h"

static void print_string(wf_text *t, const char *text)
{
    wf_text_append(t, "\"");
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') {
            wf_text_printf(t, "\\%c", *c);
        } else if ((unsigned char)*c < 32) {
            wf_text_printf(t, "\\x%02x", (unsigned)(unsigned char)*c);
        } else {
            wf_text_printf(t, "%c", *c);
        }
    }
    wf_text_append(t, "\"");
}

static void print_lines(wf_text *t, const weft_graph *g);

static void print_attr(wf_text *t, wf_attr_kind kind, const wf_attr *attr)
{
    switch (kind) {
    case WF_ATTR_INT: wf_text_printf(t, "%" PRId64, attr->u.i); break;
    case WF_ATTR_BOOL: wf_text_append(t, attr->u.i ? "true" : "false"); break;
    case WF_ATTR_DTYPE: wf_text_append(t, weft_dtype_name((weft_dtype)attr->u.i)); break;
    case WF_ATTR_FLOAT: {
        // Bits, so that every NaN, sign and digit comes back.
        uint64_t bits;
        memcpy(&bits, &attr->u.f, sizeof bits);
        wf_text_printf(t, "0x%016" PRIx64, bits);
        break;
    }
    case WF_ATTR_TEXT: print_string(t, attr->u.text ? attr->u.text : ""); break;
    case WF_ATTR_INTS:
        wf_text_append(t, "[");
        for (size_t i = 0; i < attr->n; i++) {
            wf_text_printf(t, "%s%" PRId64, i ? "," : "", attr->u.ints[i]);
        }
        wf_text_append(t, "]");
        break;
    case WF_ATTR_DATA:
        wf_text_append(t, "x");
        for (size_t i = 0; i < attr->n; i++) {
            wf_text_printf(t, "%02x", (unsigned)((const unsigned char *)attr->u.data)[i]);
        }
        break;
    case WF_ATTR_GRAPH:
        wf_text_append(t, "(\n");
        print_lines(t, attr->u.graph);
        wf_text_append(t, ")");
        break;
    }
}

static void print_node(wf_text *t, const weft_graph *g, const wf_node *node)
{
    char type[WF_TYPE_TEXT];
    wf_text_printf(t, "%%%u = %s", node->first_output, wf_op_name(node->op));
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        wf_text_printf(t, "%s%%%u", i ? ", " : "(", node->inputs[i]);
    }
    if (node->n_inputs)
        wf_text_append(t, ")");
    size_t n_attrs = wf_op_n_attrs(node->op);
    for (size_t i = 0; i < n_attrs; i++) {
        wf_text_printf(t, "%s%s=", i ? ", " : " {", wf_op_attr_name(node->op, i));
        print_attr(t, wf_op_attr_kind(node->op, i), &node->attrs[i]);
    }
    if (n_attrs)
        wf_text_append(t, "}");
    if (*node->scope) {
        wf_text_append(t, " @");
        print_string(t, node->scope);
    }
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        wf_text_printf(t, "%s%s", i ? ", " : " -> ",
                       wf_type_text(wf_graph_type(g, node->first_output + i), type));
    }
    wf_text_append(t, "\n");
}

static void print_lines(wf_text *t, const weft_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++)
        print_node(t, g, &g->nodes[i]);
    for (size_t i = 0; i < g->n_outputs; i++) {
        wf_text_append(t, "output ");
        print_string(t, g->outputs[i].name);
        wf_text_printf(t, " = %%%u\n", g->outputs[i].val);
    }
}

weft_status weft_graph_print(const weft_graph *g, char **out_text, weft_error *err)
{
    WEFT_REQUIRE(err, g && out_text, "graph: print without a graph");
    *out_text = NULL;
    wf_text t;
    wf_text_init(&t, &g->context->allocator);
    wf_text_append(&t, "weft graph 1\n");
    print_lines(&t, g);
    weft_status status = wf_text_status(&t, err);
    if (status != WEFT_OK) {
        wf_text_deinit(&t);
        return status;
    }
    *out_text = t.data; // its memory is the context's: freed by weft_text_free
    return WEFT_OK;
}

void weft_text_free(weft_context *ctx, char *text)
{
    if (ctx)
        wf_free(&ctx->allocator, text);
}
