// The cpu device with every buffer of a program (temporaries, workspaces, inputs, outputs, constants, variables)
// between pages that may not be touched: a task that reads or writes outside its operands is a crash.
#ifndef GUARDED_DEVICE_H
#define GUARDED_DEVICE_H

#include "device/device.h"

// Turns an opened cpu device into one, before it holds anything.
// is_at_end: buffers end where the next page may not be touched; else they begin where the page before may not.
void guarded_device_wrap(weft_device *dev, bool is_at_end);

#endif
