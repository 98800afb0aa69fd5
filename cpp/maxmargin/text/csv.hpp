// Rows of comma-separated values into columns of numbers and words.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "maxmargin/text/csv_fields.hpp"
#include "maxmargin/text/text_number.hpp"
#include "maxmargin/text/word_table.hpp"

namespace maxmargin {

// What becomes of a column. `guess` looks whether all of its values are numbers and keeps none.
enum class ColumnKind : std::uint8_t { number, words, guess, skip };

struct ColumnGuess {
    bool words = false;
    TextError not_finite;  // the first number that no double can hold
};

// Rows of one file, piece by piece, into arrays of the caller:
//
//   numbers[j * stride + i]    row i of the j-th column of numbers, NaN where it is missing
//   codes[j * stride + i]      row i of the j-th column of words, -1 where it is missing
//
// A block is full when it has `capacity` rows or its words take `word_bytes`: that depends on the rows alone,
// not on the pieces.
class CsvParser {
  public:
    CsvParser(char delimiter, std::vector<ColumnKind> kinds, MissingWords missing, std::int64_t target,
              std::int64_t line, std::size_t word_bytes)
        : delimiter_(delimiter),
          kinds_(std::move(kinds)),
          missing_(std::move(missing)),
          target_(target),
          line_(line),
          word_bytes_(word_bytes),
          tables_(kinds_.size()),
          guesses_(kinds_.size()) {}

    // Takes rows from a text; returns how many bytes of it are done with.
    std::size_t feed(std::string_view text, bool at_end, double* numbers, std::int32_t* codes,
                     std::size_t stride, std::size_t capacity) {
        const char* first = text.data();
        const char* last = first + text.size();
        CsvScanner scan{first, last, at_end, delimiter_, first_bad_byte(first, last, at_end), line_};
        std::size_t done = 0;
        while (!full_ && !error_) {
            const bool more = scan.skip_empty_lines();
            done = std::size_t(scan.p - first);
            line_ = scan.line;
            if (!more) break;
            if (row(scan, numbers ? numbers + n_rows_ : nullptr, codes ? codes + n_rows_ : nullptr, stride)) {
                done = std::size_t(scan.p - first);
                line_ = scan.line;
                full_ = ++n_rows_ == capacity || word_bytes_used_ > word_bytes_;
            } else {
                error_ = scan.error;
                break;
            }
        }
        return done;
    }

    void next_block() {
        n_rows_ = 0;
        full_ = false;
        word_bytes_used_ = 0;
        for (WordTable& table : tables_) table.clear();
    }

    bool full() const { return full_; }
    std::size_t n_rows() const { return n_rows_; }
    std::int64_t line() const { return line_; }
    const TextError& error() const { return error_; }
    const std::vector<ColumnKind>& kinds() const { return kinds_; }
    const std::vector<WordTable>& tables() const { return tables_; }
    const std::vector<ColumnGuess>& guesses() const { return guesses_; }

  private:
    // One row. False at an error, and where the text ends before the row does.
    bool row(CsvScanner& scan, double* numbers, std::int32_t* codes, std::size_t stride) {
        const std::int64_t n = std::int64_t(kinds_.size()), line = scan.line;
        FieldEnds ends = FieldEnds::at_delimiter;
        std::int64_t column = 0;
        for (; ends == FieldEnds::at_delimiter; ++column) {
            const ColumnKind kind = column < n ? kinds_[std::size_t(column)] : ColumnKind::skip;
            if (kind == ColumnKind::number) {
                ends = number_field(scan, column, *numbers);
                numbers += stride;
            } else if (kind == ColumnKind::words) {
                ends = words_field(scan, column, *codes);
                codes += stride;
            } else {
                ends = kind == ColumnKind::guess ? guess_field(scan, column) : scan.next(column);
            }
        }
        if (ends != FieldEnds::at_line_end) return false;
        if (column == n) return true;
        scan.error = {column < n ? "short row" : "long row", line, std::min(column, n), 0, column, ""};
        return false;
    }

    // A number that is read where it stands, for there are only blanks around it. False where it is not so.
    bool plain_number(CsvScanner& scan, std::int64_t column, double& value, FieldEnds& ends) {
        const ParsedNumber number = parse_number(scan.skip_blanks(scan.p), scan.end);
        if (number.what != NumberIs::finite || missing_.some_look_like_numbers()) return false;
        const char* e = scan.skip_blanks(number.end);
        if (e < scan.end && *e != delimiter_ && *e != '\n' && *e != '\r') return false;
        value = number.value;
        ends = scan.finish(e, column);
        return true;
    }

    FieldEnds number_field(CsvScanner& scan, std::int64_t column, double& out) {
        FieldEnds ends;
        if (plain_number(scan, column, out, ends)) return ends;
        const std::int64_t line = scan.line;
        ends = scan.next(column);
        if (ends == FieldEnds::not_yet || ends == FieldEnds::in_error) return ends;
        const bool missing = missing_.contains(scan.field);
        const ParsedNumber whole = whole_number(scan.field);
        out = missing ? std::numeric_limits<double>::quiet_NaN() : whole.value;
        if (missing || whole.what == NumberIs::finite) return ends;
        return refuse(scan, whole.what == NumberIs::not_finite ? "not finite" : "not a number", line, column);
    }

    FieldEnds words_field(CsvScanner& scan, std::int64_t column, std::int32_t& out) {
        const std::int64_t line = scan.line;
        const FieldEnds ends = scan.next(column);
        if (ends == FieldEnds::not_yet || ends == FieldEnds::in_error) return ends;
        const bool missing = missing_.contains(scan.field);
        if (missing && column == target_) return refuse(scan, "missing label", line, column);
        out = missing ? -1 : tables_[std::size_t(column)].code(scan.field, word_bytes_used_);
        return ends;
    }

    FieldEnds guess_field(CsvScanner& scan, std::int64_t column) {
        FieldEnds ends;
        double value;
        if (plain_number(scan, column, value, ends)) return ends;
        const std::int64_t line = scan.line;
        ends = scan.next(column);
        if (ends == FieldEnds::not_yet || ends == FieldEnds::in_error || missing_.contains(scan.field))
            return ends;
        ColumnGuess& guess = guesses_[std::size_t(column)];
        const NumberIs what = whole_number(scan.field).what;
        if (what == NumberIs::not_a_number) {
            guess.words = true;
            kinds_[std::size_t(column)] = ColumnKind::skip;  // settled
        } else if (what == NumberIs::not_finite && !guess.not_finite) {
            guess.not_finite = {"not finite", line, column, 0, 0, excerpt(scan.field)};
        }
        return ends;
    }

    static FieldEnds refuse(CsvScanner& scan, const char* what, std::int64_t line, std::int64_t column) {
        scan.line = line;
        return scan.fail(what, scan.field.data(), scan.field.data() + scan.field.size(), column);
    }

    char delimiter_;
    std::vector<ColumnKind> kinds_;
    MissingWords missing_;
    std::int64_t target_, line_;
    std::size_t word_bytes_;
    std::vector<WordTable> tables_;
    std::vector<ColumnGuess> guesses_;
    std::size_t n_rows_ = 0, word_bytes_used_ = 0;
    bool full_ = false;
    TextError error_{};
};

}  // namespace maxmargin
