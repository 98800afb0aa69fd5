#define MAXMARGIN_ISA simd_avx512
#define MAXMARGIN_ISA_NAME "avx512"
#include "loops.inc"
