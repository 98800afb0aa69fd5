#define MAXMARGIN_ISA simd_avx2
#define MAXMARGIN_ISA_NAME "avx2"
#define MAXMARGIN_FEW_FEATURES 128
#include "loops.inc"
