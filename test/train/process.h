// The command weft as a process of its own, which a test may end in the middle of its work.
#ifndef WF_TEST_PROCESS_H
#define WF_TEST_PROCESS_H

#include "wf_test.h"

#include <stdio.h>
#include <sys/types.h>

// Starts `weft arguments ..`; the list ends with NULL. out_output: its standard output, to be closed by the caller;
// NULL: nobody reads it. What it says besides goes to process_said.
pid_t process_start(const char *const *arguments, FILE **out_output);
// Waits for its end; gives what waitpid says of it.
int process_end(pid_t child);
// Whether it ended by SIGKILL. It must not have ended by itself with an error.
bool process_was_killed(int code);

void process_sleep(double seconds);
double process_seconds(void);

#endif
