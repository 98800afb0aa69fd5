// Numbers written as decimal text, to the nearest double and whatever the locale.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <system_error>

namespace maxmargin {

enum class NumberIs { finite, not_finite, not_a_number };

struct ParsedNumber {
    NumberIs what;
    double value;
    const char* end;  // behind the number; where it began if there is none
};

inline bool is_digit(char c) { return unsigned(c - '0') < 10; }

// Whether [first, last), a number in decimal notation that no double can hold, is too large and not too
// small: the power of ten of its first digit that is not 0 tells.
inline bool is_huge(const char* first, const char* last) {
    long power = 0;
    bool point = false, begun = false;
    const char* p = first;
    for (; p < last && (is_digit(*p) || *p == '.'); ++p) {
        if (*p == '.') {
            point = true;
        } else {
            begun = begun || *p != '0';
            power += begun && !point ? 1 : !begun && point ? -1 : 0;
        }
    }
    if (p == last) return power > 0;
    const bool negative = ++p < last && *p == '-';
    if (p < last && (*p == '-' || *p == '+')) ++p;
    long exponent = 0;
    for (; p < last && is_digit(*p); ++p)
        if (exponent < 1'000'000'000) exponent = 10 * exponent + (*p - '0');
    return (negative ? -exponent : exponent) + power > 0;
}

// The longest number at the start of [first, last): a sign, digits with at most one point, an exponent.
// Too small for a double is a zero, too large is not finite.
inline ParsedNumber parse_number(const char* first, const char* last) {
    const char* p = first;
    if (p < last && (*p == '+' || *p == '-')) ++p;
    if (p == last || !(is_digit(*p) || (*p == '.' && last - p > 1 && is_digit(p[1]))))
        return {NumberIs::not_a_number, 0.0, first};
    double value = 0.0;
    const auto [end, error] = std::from_chars(p, last, value);
    if (error == std::errc::result_out_of_range) {
        if (is_huge(p, end)) return {NumberIs::not_finite, HUGE_VAL, end};
        value = 0.0;
    }
    return {NumberIs::finite, *first == '-' ? -value : value, end};
}

// Whether the text is an infinity in words, in any case and with a sign or without.
inline bool is_infinity(std::string_view text) {
    if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
    const auto equals = [&](std::string_view word) {
        if (text.size() != word.size()) return false;
        for (std::size_t i = 0; i < word.size(); ++i)
            if ((text[i] | 0x20) != word[i]) return false;
        return true;
    };
    return equals("inf") || equals("infinity");
}

// The whole text as one number.
inline ParsedNumber whole_number(std::string_view text) {
    const char* first = text.data();
    const ParsedNumber number = parse_number(first, first + text.size());
    if (number.what != NumberIs::not_a_number && number.end == first + text.size()) return number;
    return {is_infinity(text) ? NumberIs::not_finite : NumberIs::not_a_number, 0.0, first};
}

}  // namespace maxmargin
