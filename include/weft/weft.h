// All of weft.
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <weft/base.h>
#include <weft/bench.h>
#include <weft/check.h>
#include <weft/device.h>
#include <weft/diff.h>
#include <weft/family.h>
#include <weft/graph.h>
#include <weft/nn.h>
#include <weft/ops.h>
#include <weft/own_op.h>
#include <weft/run.h>
#include <weft/sample.h>
#include <weft/script.h>
#include <weft/sound.h>
#include <weft/train.h>
#include <weft/transformer.h>

#endif
