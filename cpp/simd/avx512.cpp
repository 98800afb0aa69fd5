#define MAXMARGIN_ISA simd_avx512
#define MAXMARGIN_ISA_NAME "avx512"
#define MAXMARGIN_FEW_FEATURES 64
#include "loops.inc"
