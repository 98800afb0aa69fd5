#define MAXMARGIN_ISA simd_avx2
#define MAXMARGIN_ISA_NAME "avx2"
#define MAXMARGIN_REGISTER_BYTES 32
#include "loops.inc"
