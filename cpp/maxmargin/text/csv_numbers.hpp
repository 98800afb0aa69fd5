// Numbers of a row read where they stand, where no word can mean that one is missing and none has groups.
#pragma once

#include <string_view>
#include <vector>

#include "maxmargin/text/csv_block.hpp"
#include "maxmargin/text/csv_fields.hpp"
#include "maxmargin/text/text_number.hpp"

namespace maxmargin {

// A delimiter that is one of these ends a field, never a number that goes on behind it.
inline bool is_number_character(char c) {
    return is_digit(c) || std::string_view("+-.eE").find(c) != std::string_view::npos;
}

// The numbers from `column` on, as long as there is nothing else between separators, of which a blank is
// none. True at the end of the row.
inline bool bare_numbers(CsvScanner& scan, const std::vector<ColumnKind>& kinds, std::int64_t& column,
                         double*& numbers, std::size_t stride) {
    const auto n = std::int64_t(kinds.size());
    const char* p = scan.p;
    bool ended = false;
    for (; column < n && !ended; ++column) {
        const ColumnKind kind = kinds[std::size_t(column)];
        if (kind != ColumnKind::number && kind != ColumnKind::guess) break;
        p = scan.skip_blanks(p);
        if (scan.end - p < short_number_reach) break;
        double value;
        const char* e = scan.separators.from(p);
        if (e == nullptr || !short_number(p, e, value)) {
            const ParsedNumber number = parse_number(p, scan.end);
            e = number.end;
            value = number.value;
            if (number.what != NumberIs::finite || e == scan.end || (*e != scan.delimiter && *e != '\n'))
                break;
        }
        if (kind == ColumnKind::number) {
            *numbers = value;
            numbers += stride;
        }
        ended = *e == '\n';
        p = e + 1;
    }
    scan.p = p;
    scan.line += ended;
    return ended;
}

// A number that has only blanks around it, and may end with the text. False where it is not so.
inline bool plain_number(CsvScanner& scan, std::int64_t column, double& value, FieldEnds& ends) {
    const ParsedNumber number = parse_number(scan.skip_blanks(scan.p), scan.end);
    if (number.what != NumberIs::finite) return false;
    const char* e = scan.skip_blanks(number.end);
    if (e < scan.end && *e != scan.delimiter && *e != '\n' && *e != '\r') return false;
    value = number.value;
    ends = scan.finish(e, column);
    return true;
}

}  // namespace maxmargin
