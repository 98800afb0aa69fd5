#define MAXMARGIN_ISA simd_baseline
#define MAXMARGIN_ISA_NAME "baseline"
#define MAXMARGIN_FEW_FEATURES 32
#include "loops.inc"
