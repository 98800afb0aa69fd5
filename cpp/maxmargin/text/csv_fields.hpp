// Splits comma-separated values (RFC 4180) into fields.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "maxmargin/text/separators.hpp"
#include "maxmargin/text/text_error.hpp"
#include "maxmargin/text/utf8.hpp"

namespace maxmargin {

enum class FieldEnds { at_delimiter, at_line_end, not_yet, in_error };

// Splits a text into fields. Blanks around a field are dropped; a field in quotes may contain delimiters,
// line ends and doubled quotes. A field that reaches the end of the text is complete only if `at_end`.
struct CsvScanner {
    const char* p;
    const char* end;
    bool at_end;
    char delimiter;
    const char* bad;  // the first byte that is NUL or not UTF-8, or nullptr
    std::int64_t line;
    std::string_view field{};
    TextError error{};
    SeparatorSearch separators{delimiter};
    std::string unquoted{};  // the last field whose quotes were doubled, with single ones

    bool is_blank(char c) const { return c == ' ' || (c == '\t' && delimiter != '\t'); }

    const char* skip_blanks(const char* q) const {
        while (q < end && is_blank(*q)) ++q;
        return q;
    }

    FieldEnds fail(const char* what, const char* from, const char* to, std::int64_t column) {
        const auto length = std::size_t(to - from);
        error = {what, line, column, 0, 0, excerpt({from, length})};
        return FieldEnds::in_error;
    }

    FieldEnds next(std::int64_t column) {
        const char* q = skip_blanks(p);
        if (q < end && *q == '"') return quoted(q, column);
        const char* e = q;
        while (e < end && *e != delimiter && *e != '\n' && *e != '\r') ++e;
        const char* trimmed = e;
        while (trimmed > q && is_blank(trimmed[-1])) --trimmed;
        field = {q, std::size_t(trimmed - q)};
        if (bad && bad >= q && bad < e) return bad_byte(column);
        return finish(e, column);
    }

    // What comes behind a field; e is there. The next field begins at p.
    FieldEnds finish(const char* e, std::int64_t column) {
        if (e == end) {
            p = e;
            return at_end ? FieldEnds::at_line_end : FieldEnds::not_yet;
        }
        p = e + 1;
        if (*e == delimiter) return FieldEnds::at_delimiter;
        if (*e == '\r') {
            if (p == end && !at_end) return FieldEnds::not_yet;
            if (p == end || *p != '\n') return fail("carriage return", e, e, column);
            ++p;
        }
        ++line;
        return FieldEnds::at_line_end;
    }

    // Moves over lines with nothing in them. False where the text ends, or a line may go on behind its end.
    bool skip_empty_lines() {
        while (true) {
            const char* q = skip_blanks(p);
            if (q < end && *q == '\r') {
                if (q + 1 == end) return at_end;
                if (q[1] != '\n') return true;
                ++q;
            }
            if (q == end) {
                if (at_end) p = end;
                return false;
            }
            if (*q != '\n') return true;
            p = q + 1;
            ++line;
        }
    }

  private:
    FieldEnds bad_byte(std::int64_t column) {
        const FieldEnds ends = fail(*bad == 0 ? "NUL byte" : "not UTF-8", bad, bad + 1, column);
        error.byte = bad - begin_of_text;
        return ends;
    }

    FieldEnds quoted(const char* open, std::int64_t column) {
        const std::int64_t opened = line;
        const char* q = open + 1;
        const char* from = q;
        bool doubled = false;
        for (;; ++q) {
            while (q < end && *q != '"') line += *q++ == '\n';
            if (q == end) {
                line = at_end ? opened : line;
                return at_end ? fail("open quote", open, end, column) : FieldEnds::not_yet;
            }
            if (q + 1 == end && !at_end) return FieldEnds::not_yet;
            if (q + 1 == end || q[1] != '"') break;
            if (!doubled) unquoted.clear();
            doubled = true;
            unquoted.append(from, q);
            from = ++q;
        }
        if (doubled) unquoted.append(from, q);
        field = doubled ? std::string_view(unquoted) : std::string_view(from, std::size_t(q - from));
        if (bad && bad >= open && bad < q) return bad_byte(column);
        const char* e = skip_blanks(q + 1);
        if (e < end && *e != delimiter && *e != '\n' && *e != '\r')
            return fail("text after quote", open, e + 1, column);
        return finish(e, column);
    }

  public:
    const char* begin_of_text = p;
};

// The fields of the first row. Returns how many bytes it takes; 0 where the text ends before it does, or is
// empty, or is in error.
inline std::size_t first_row(CsvScanner& scan, std::vector<std::string>& fields) {
    const char* first = scan.p;
    if (!scan.skip_empty_lines()) return 0;
    FieldEnds ends = FieldEnds::at_delimiter;
    while (ends == FieldEnds::at_delimiter) {
        ends = scan.next(std::int64_t(fields.size()));
        fields.emplace_back(scan.field);
    }
    return ends == FieldEnds::at_line_end ? std::size_t(scan.p - first) : 0;
}

}  // namespace maxmargin
