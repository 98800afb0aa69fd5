// Where a field ends: the next delimiter or line end, without a branch for each character.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#    include <emmintrin.h>
#endif

namespace maxmargin {

// To be asked for text of which `window` characters are readable.
class SeparatorSearch {
  public:
    static constexpr std::ptrdiff_t window = 16;

    explicit SeparatorSearch(char delimiter)
        :
#ifdef __SSE2__
          delimiters_(_mm_set1_epi8(delimiter)),
          line_ends_(_mm_set1_epi8('\n'))
#else
          delimiters_(of(delimiter)),
          line_ends_(of('\n'))
#endif
    {
    }

    // The first one among the `window` characters from p on, or nullptr.
    const char* from(const char* p) const {
#ifdef __SSE2__
        const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        const int found = _mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(text, delimiters_), _mm_cmpeq_epi8(text, line_ends_)));
        return found ? p + std::countr_zero(unsigned(found)) : nullptr;
#else
        for (int k = 0; k < 16; k += 8) {
            std::uint64_t word;
            std::memcpy(&word, p + k, 8);
            const std::uint64_t found = zero_bytes(word ^ delimiters_) | zero_bytes(word ^ line_ends_);
            if (found) return p + k + std::countr_zero(found) / 8;
        }
        return nullptr;
#endif
    }

  private:
#ifdef __SSE2__
    __m128i delimiters_, line_ends_;
#else
    static std::uint64_t of(char c) { return 0x0101010101010101u * std::uint8_t(c); }
    static std::uint64_t zero_bytes(std::uint64_t word) {
        constexpr std::uint64_t low = 0x7F7F7F7F7F7F7F7Fu;
        return ~(((word & low) + low) | word | low);
    }
    std::uint64_t delimiters_, line_ends_;
#endif
};

}  // namespace maxmargin
