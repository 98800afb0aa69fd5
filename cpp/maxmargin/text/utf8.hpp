// Text that is UTF-8 without NUL bytes, and where it is not.
#pragma once

#include <cstdint>
#include <cstring>

namespace maxmargin {

// Bytes of the UTF-8 character at p; 0 where there is none (overlong forms and surrogates included), -1 where
// the text ends within one.
inline int utf8_length(const unsigned char* p, const unsigned char* end) {
    const unsigned char lead = *p;
    if (lead == 0) return 0;
    if (lead < 0x80) return 1;
    const int n = lead >= 0xC2 && lead <= 0xDF   ? 2
                  : (lead & 0xF0) == 0xE0        ? 3
                  : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                 : 0;
    if (n == 0) return 0;
    const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    for (int i = 1; i < n; ++i) {
        if (p + i == end) return -1;
        if (p[i] < (i == 1 ? low : 0x80) || p[i] > (i == 1 ? high : 0xBF)) return 0;
    }
    return n;
}

// The first byte of [first, last) that is NUL or not UTF-8, or nullptr. A character cut off by the end counts
// only where the text ends there for good.
inline const char* first_bad_byte(const char* first, const char* last, bool at_end) {
    const auto* p = reinterpret_cast<const unsigned char*>(first);
    const auto* end = reinterpret_cast<const unsigned char*>(last);
    constexpr std::uint64_t high = 0x8080808080808080u, ones = 0x0101010101010101u;
    while (p < end) {
        std::uint64_t word;
        while (end - p >= 8) {  // eight plain characters at a time
            std::memcpy(&word, p, 8);
            if (((word | (word - ones)) & high) != 0) break;
            p += 8;
        }
        if (p == end) break;
        const int n = utf8_length(p, end);
        if (n < 0 && !at_end) break;
        if (n <= 0) return reinterpret_cast<const char*>(p);
        p += n;
    }
    return nullptr;
}

}  // namespace maxmargin
