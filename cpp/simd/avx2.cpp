#define MAXMARGIN_ISA simd_avx2
#define MAXMARGIN_ISA_NAME "avx2"
#include "loops.inc"
