// Chooses the instruction set once.
#include <cstdlib>
#include <cstring>

#include "maxmargin/core/simd.hpp"

namespace maxmargin {

extern const Simd simd_baseline;
#ifdef MAXMARGIN_X86
extern const Simd simd_avx2;
extern const Simd simd_avx512;
#endif

static const Simd& choose() {
#ifdef MAXMARGIN_X86
    const char* asked = std::getenv("MAXMARGIN_SIMD");
    const auto at_most = [&](const char* name) { return asked && std::strcmp(asked, name) == 0; };
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (at_most("baseline") || !avx2) return simd_baseline;
    if (at_most("avx2") || !avx512) return simd_avx2;
    return simd_avx512;
#else
    return simd_baseline;
#endif
}

const Simd& simd() {
    static const Simd& chosen = choose();
    return chosen;
}

}  // namespace maxmargin
