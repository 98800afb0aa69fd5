// Numbers written as decimal text, to the nearest double and whatever the locale.
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

// The leading digits of eight characters: how many, and their value.
struct Digits {
    int count;
    std::uint64_t value;
};

// Without a branch for each character: numbers of one file have different lengths.
inline Digits leading_digits(const char* p) {
    std::uint64_t t;
    std::memcpy(&t, p, 8);
    t ^= 0x3030303030303030u;  // a digit becomes its value, anything else is above 9
    const std::uint64_t other = (t | (t + 0x7676767676767676u)) & 0x8080808080808080u;
    const int count = std::countr_zero(other) / 8;
    if (count == 0) return {0, 0};
    t <<= 8 * (8 - count);  // zeros come in front
    t = 10 * t + (t >> 8);  // pairs of digits in bytes 0, 2, 4, 6
    constexpr std::uint64_t pairs = 0x000000FF000000FFu;
    t = (t & pairs) * (100 + (std::uint64_t(1'000'000) << 32)) +
        ((t >> 16) & pairs) * (1 + (std::uint64_t(10'000) << 32));
    return {count, t >> 32};
}

inline constexpr std::array<std::uint64_t, 20> powers_of(std::uint64_t base) {
    std::array<std::uint64_t, 20> powers{1};
    for (std::size_t k = 1; k < powers.size(); ++k) powers[k] = base * powers[k - 1];
    return powers;
}

inline constexpr auto powers_of_ten = powers_of(10), powers_of_five = powers_of(5);

inline constexpr std::array<double, 20> doubles_of_ten = [] {
    std::array<double, 20> powers{};
    for (std::size_t k = 0; k < powers.size(); ++k) powers[k] = double(powers_of_ten[k]);
    return powers;
}();

// digits / 10^places to the nearest double; places <= 19. Below 2^53 one division of doubles is exact but for
// its own rounding. Otherwise 128 bits are divided by 5^places: the quotient has more than 60 bits, and its
// last one is set where a remainder is left, so that converting it is the only rounding.
inline double decimal(std::uint64_t digits, int places) {
    const auto k = std::size_t(places);
    if (digits < std::uint64_t(1) << 53) return double(std::int64_t(digits)) / doubles_of_ten[k];
    const int up = std::countl_zero(digits), widen = std::countl_zero(powers_of_five[k]);
    const auto dividend = static_cast<unsigned __int128>(digits << up) << 62;
    const std::uint64_t divisor = powers_of_five[k] << widen;
    const auto quotient = std::uint64_t(dividend / divisor);
    const bool left = static_cast<unsigned __int128>(quotient) * divisor != dividend;
    const auto power = std::uint64_t(1023 - 62 - up + widen - places) << 52;
    return double(std::int64_t(quotient | std::uint64_t(left))) * std::bit_cast<double>(power);
}

// Up to 19 digits with at most one point and without an exponent, which most numbers are. Where the number
// ends, or nullptr where it is of another form, or the text ends within eight characters of it.
inline const char* plain_decimal(const char* p, const char* last, double& value) {
    if constexpr (std::endian::native != std::endian::little) return nullptr;
    std::uint64_t digits = 0;
    int n = 0, places = 0;
    bool point = false;
    if (last - p >= 8 && is_digit(p[0]) && p[1] == '.') {  // one digit and a point: most measurements
        digits = std::uint64_t(p[0] - '0');
        n = 1;
        point = true;
        p += 2;
    }
    while (true) {
        if (last - p < 8) return nullptr;
        const Digits some = leading_digits(p);
        if ((n += some.count) > 19) return nullptr;
        digits = digits * powers_of_ten[std::size_t(some.count)] + some.value;
        places += point ? some.count : 0;
        p += some.count;
        if (some.count == 8) continue;
        if (*p != '.' || point) break;
        point = true;
        ++p;
    }
    if (n == 0 || *p == 'e' || *p == 'E') return nullptr;
    value = decimal(digits, places);
    return p;
}

inline double signed_value(double value, bool negative) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ std::uint64_t(negative) << 63);
}

// The longest number at the start of [first, last): a sign, digits with at most one point, an exponent.
// Too small for a double is a zero, too large is not finite.
inline ParsedNumber parse_number(const char* first, const char* last) {
    if (first == last) return {NumberIs::not_a_number, 0.0, first};
    const bool negative = *first == '-';
    const char* p = first + (negative | (*first == '+'));  // no branch: half of the numbers may have a sign
    if (p == last || !(is_digit(*p) || (*p == '.' && last - p > 1 && is_digit(p[1]))))
        return {NumberIs::not_a_number, 0.0, first};
    double value = 0.0;
    if (const char* plain = plain_decimal(p, last, value))
        return {NumberIs::finite, signed_value(value, negative), plain};
    const auto [end, error] = std::from_chars(p, last, value);
    if (error == std::errc::result_out_of_range) {
        if (is_huge(p, end)) return {NumberIs::not_finite, HUGE_VAL, end};
        value = 0.0;
    }
    return {NumberIs::finite, signed_value(value, negative), end};
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

inline constexpr std::ptrdiff_t short_number_reach = 18;

// Whether [p, end) is a number of up to eight digits, a point or none, and up to eight digits, with a minus
// sign or without, as most are. `short_number_reach` characters from p on must be readable. No branch depends
// on the sign or on the number of digits.
inline bool short_number(const char* p, const char* end, double& value) {
    if constexpr (std::endian::native != std::endian::little) return false;
    const bool negative = *p == '-';
    p += negative;
    const bool one = p[1] == '.' && is_digit(p[0]);
    const Digits whole = one ? Digits{1, std::uint64_t(p[0] - '0')} : leading_digits(p);
    p += whole.count;
    Digits behind{0, 0};
    if (*p == '.') behind = leading_digits(++p);
    if (p + behind.count != end || whole.count == 0) return false;
    const std::uint64_t digits = whole.value * powers_of_ten[std::size_t(behind.count)] + behind.value;
    value = signed_value(decimal(digits, behind.count), negative);
    return true;
}

// The whole text as one number.
inline ParsedNumber whole_number(std::string_view text) {
    const char* first = text.data();
    const ParsedNumber number = parse_number(first, first + text.size());
    if (number.what != NumberIs::not_a_number && number.end == first + text.size()) return number;
    return {is_infinity(text) ? NumberIs::not_finite : NumberIs::not_a_number, 0.0, first};
}

}  // namespace maxmargin
