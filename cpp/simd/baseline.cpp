#define MAXMARGIN_ISA simd_baseline
#define MAXMARGIN_ISA_NAME "baseline"
#define MAXMARGIN_REGISTER_BYTES 16
#include "loops.inc"
