#define MAXMARGIN_ISA simd_avx512
#define MAXMARGIN_ISA_NAME "avx512"
#define MAXMARGIN_REGISTER_BYTES 64
#include "loops.inc"
