#include "ffi.h"
#include "threads.h"

/* How many threads this machine and this build can use. */
SEXP ffi_threads(void) { return Rf_ScalarInteger(ibrc_threads_available()); }
