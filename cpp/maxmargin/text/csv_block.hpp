// What a CSV parser fills and what it works on: columns, arrays of the caller, parts of a text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "maxmargin/text/text_error.hpp"

namespace maxmargin {

// What becomes of a column. `guess` looks whether all of its values are numbers and keeps none.
enum class ColumnKind : std::uint8_t { number, words, guess, skip };

struct ColumnGuess {
    bool words = false;
    TextError not_finite;  // the first number that no double can hold
};

// Arrays of the caller:
//
//   numbers[j * stride + i]    row i of the j-th column of numbers, NaN where it is missing
//   codes[j * stride + i]      row i of the j-th column of words, -1 where it is missing
struct CsvOutput {
    double* numbers;
    std::int32_t* codes;
    std::size_t stride, capacity;

    CsvOutput from(std::size_t row) const {
        return {numbers ? numbers + row : nullptr, codes ? codes + row : nullptr, stride, capacity - row};
    }
};

// A part of a text that ends with a line, and what a parser of its own found in it.
struct CsvPart {
    std::string_view text;
    std::size_t n_lines = 0, first_row = 0, n_done = 0;
    std::int64_t first_line = 0;
};

// The whole lines of a text in parts of nearly one size; fewer where lines are long.
inline std::vector<CsvPart> whole_lines(std::string_view text, std::size_t n_parts) {
    std::vector<CsvPart> parts;
    const std::size_t step = text.size() / n_parts;
    for (std::size_t start = 0; start < text.size() && parts.size() < n_parts;) {
        const bool is_last = parts.size() + 1 == n_parts;
        const std::size_t end = is_last ? text.rfind('\n') : text.find('\n', start + step);
        if (end == text.npos || end < start) break;
        parts.push_back({text.substr(start, end + 1 - start)});
        start = end + 1;
    }
    return parts;
}

inline std::size_t n_line_ends(std::string_view text) {
    std::size_t n = 0;
    for (std::size_t start = 0; start < text.size(); start += 255) {  // as many as a byte can count
        const std::size_t end = std::min(start + 255, text.size());
        std::uint8_t some = 0;
        for (std::size_t i = start; i < end; ++i) some = std::uint8_t(some + (text[i] == '\n'));
        n += some;
    }
    return n;
}

// Whether no row of the text can be complete. A longer text is tried in any case, for the sake of its errors.
inline bool is_unfinished(std::string_view text) {
    constexpr std::size_t long_text = 1 << 22;
    return text.size() < long_text && text.find('\n') == text.npos;
}

}  // namespace maxmargin
