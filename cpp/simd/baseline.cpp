#define MAXMARGIN_ISA simd_baseline
#define MAXMARGIN_ISA_NAME "baseline"
#include "loops.inc"
