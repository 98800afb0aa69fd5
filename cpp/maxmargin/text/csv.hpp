// Rows of comma-separated values into columns of numbers and words.
#pragma once

#include <limits>
#include <vector>

#include "maxmargin/core/threads.hpp"
#include "maxmargin/text/csv_block.hpp"
#include "maxmargin/text/csv_fields.hpp"
#include "maxmargin/text/csv_numbers.hpp"
#include "maxmargin/text/word_table.hpp"
#include "maxmargin/text/written_number.hpp"

namespace maxmargin {

// Rows of one file, text by text, into a block of `capacity` rows. A block is full when it has these, or its
// words take `word_bytes`: that depends on the rows alone, not on how the text is cut, nor on the threads.
class CsvParser {
  public:
    CsvParser(char delimiter, std::vector<ColumnKind> kinds, MissingWords missing, std::int64_t target,
              std::int64_t line, std::size_t word_bytes, char decimal = 0)
        : delimiter_(delimiter),
          read_{decimal},
          kinds_(std::move(kinds)),
          missing_(std::move(missing)),
          target_(target),
          line_(line),
          word_bytes_(word_bytes),
          tables_(kinds_.size()),
          guesses_(kinds_.size()) {
        for (std::size_t j = 0; j < kinds_.size(); ++j)
            if (kinds_[j] == ColumnKind::words) word_columns_.push_back(j);
    }

    // Takes rows from a text, of which a thread gets no less than `part_bytes`; returns how many bytes are
    // done.
    std::size_t feed(std::string_view text, bool at_end, const CsvOutput& out, int n_threads,
                     std::size_t part_bytes = 1 << 17) {
        const std::size_t n_parts = std::min(text.size() / part_bytes, 4 * std::size_t(n_threads));
        const std::size_t done = n_threads > 1 && n_parts > 1 ? feed_parts(text, out, n_threads, n_parts) : 0;
        if (full_ || (!at_end && is_unfinished(text.substr(done)))) return done;
        const std::size_t rest = feed_rows(text.substr(done), at_end, out);
        if (error_) error_.byte += std::int64_t(done);
        return done + rest;
    }

    void next_block() {
        n_rows_ = 0;
        full_ = false;
        word_bytes_used_ = 0;
        for (std::size_t j : word_columns_) tables_[j].clear();
    }

    bool full() const { return full_; }
    std::size_t n_rows() const { return n_rows_; }
    std::int64_t line() const { return line_; }
    const TextError& error() const { return error_; }
    const std::vector<ColumnKind>& kinds() const { return kinds_; }
    const std::vector<WordTable>& tables() const { return tables_; }
    const std::vector<ColumnGuess>& guesses() const { return guesses_; }

  private:
    // One row after the other.
    std::size_t feed_rows(std::string_view text, bool at_end, const CsvOutput& out) {
        const char* first = text.data();
        const char* last = first + text.size();
        CsvScanner scan{first, last, at_end, delimiter_, first_bad_byte(first, last, at_end), line_};
        std::size_t done = 0;
        while (!full_ && !error_) {
            const bool more = scan.skip_empty_lines();
            done = std::size_t(scan.p - first);
            line_ = scan.line;
            if (!more) break;
            if (const CsvOutput rest = out.from(n_rows_); row(scan, rest.numbers, rest.codes, out.stride)) {
                done = std::size_t(scan.p - first);
                line_ = scan.line;
                full_ = ++n_rows_ == out.capacity || word_bytes_used_ > word_bytes_;
            } else {
                error_ = scan.error;
                break;
            }
        }
        return done;
    }

    // Parts of the text by several threads, as far as each proves the next: a line end is the end of a row
    // only outside of quotes, so a part counts if the one before ended with a row. The first part that is not
    // regular (an error, empty lines, a line end in quotes, a full block) is left to `feed_rows`.
    std::size_t feed_parts(std::string_view text, const CsvOutput& out, int n_threads, std::size_t n_parts) {
        std::vector<CsvPart> parts = whole_lines(text, n_parts);
        while (part_parsers_.size() < parts.size())
            part_parsers_.emplace_back(delimiter_, kinds_, missing_, target_, line_, word_bytes_,
                                       read_.decimal);
        Pool& pool = Pool::instance();
        pool.run(parts.size(), n_threads,
                 [&](std::size_t k) { parts[k].n_lines = n_line_ends(parts[k].text); }, {});
        std::size_t n_lines = 0, n = 0;
        for (; n < parts.size() && n_rows_ + n_lines + parts[n].n_lines <= out.capacity; ++n) {
            parts[n].first_row = n_rows_ + n_lines;
            parts[n].first_line = line_ + std::int64_t(n_lines);
            n_lines += parts[n].n_lines;
        }
        pool.run(n, n_threads,
                 [&](std::size_t k) {
                     CsvParser& parser = part_parsers_[k];
                     parser.begin_part(kinds_, parts[k].first_line);
                     parts[k].n_done = parser.feed_rows(parts[k].text, false, out.from(parts[k].first_row));
                 },
                 {});
        std::size_t done = 0;
        for (std::size_t k = 0; k < n && !full_; ++k) {
            const CsvParser& parser = part_parsers_[k];
            if (parser.error_ || parts[k].n_done != parts[k].text.size()) break;
            if (word_bytes_used_ + parser.word_bytes_used_ > word_bytes_) break;
            join(parser, out.from(parts[k].first_row));
            line_ += std::int64_t(parts[k].n_lines);
            done += parts[k].text.size();
            full_ = n_rows_ == out.capacity;
            if (parser.n_rows_ != parts[k].n_lines) break;
        }
        return done;
    }

    void begin_part(const std::vector<ColumnKind>& kinds, std::int64_t line) {
        kinds_ = kinds;
        line_ = line;
        error_ = {};
        for (std::size_t j : guessed_) guesses_[j] = {};
        guessed_.clear();
        next_block();
    }

    // Takes over what the parser of a part has found; its rows are in their place.
    void join(const CsvParser& part, const CsvOutput& out) {
        n_rows_ += part.n_rows_;
        for (std::size_t w = 0; w < word_columns_.size(); ++w) {
            const WordTable& words = part.tables_[word_columns_[w]];
            std::vector<std::int32_t> code(words.size());
            for (std::size_t k = 0; k < code.size(); ++k)
                code[k] = tables_[word_columns_[w]].code(words[k], word_bytes_used_);
            std::int32_t* column = out.codes + w * out.stride;
            for (std::size_t i = 0; i < part.n_rows_; ++i)
                if (column[i] >= 0) column[i] = code[std::size_t(column[i])];
        }
        for (std::size_t j : part.guessed_) {
            const ColumnGuess& guess = part.guesses_[j];
            if (guess.not_finite && !guesses_[j].not_finite) guesses_[j].not_finite = guess.not_finite;
            guesses_[j].words = guesses_[j].words || guess.words;
            kinds_[j] = guesses_[j].words ? ColumnKind::skip : kinds_[j];
        }
    }

    // One row. False at an error, and where the text ends before the row does.
    bool row(CsvScanner& scan, double* numbers, std::int32_t* codes, std::size_t stride) {
        const std::int64_t n = std::int64_t(kinds_.size()), line = scan.line;
        FieldEnds ends = FieldEnds::at_delimiter;
        std::int64_t column = 0;
        for (; ends == FieldEnds::at_delimiter; ++column) {
            if (numbers_in_turn_ && bare_numbers(scan, kinds_, column, numbers, stride)) {
                ends = FieldEnds::at_line_end;
                break;
            }
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

    FieldEnds number_field(CsvScanner& scan, std::int64_t column, double& out) {
        FieldEnds ends;
        if (numbers_stand_bare_ && plain_number(scan, column, out, ends)) return ends;
        const std::int64_t line = scan.line;
        ends = scan.next(column);
        if (ends == FieldEnds::not_yet || ends == FieldEnds::in_error) return ends;
        const bool missing = missing_.contains(scan.field);
        const ParsedNumber whole = read_(scan.field);
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
        if (numbers_stand_bare_ && plain_number(scan, column, value, ends)) return ends;
        const std::int64_t line = scan.line;
        ends = scan.next(column);
        if (ends == FieldEnds::not_yet || ends == FieldEnds::in_error || missing_.contains(scan.field))
            return ends;
        ColumnGuess& guess = guesses_[std::size_t(column)];
        const NumberIs what = read_(scan.field).what;
        if (what != NumberIs::finite) guessed_.push_back(std::size_t(column));
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
    NumberReader read_;
    std::vector<ColumnKind> kinds_;
    MissingWords missing_;
    bool numbers_stand_bare_ =
        !read_.decimal && !missing_.some_look_like_numbers() && !is_number_character(delimiter_);
    bool numbers_in_turn_ = numbers_stand_bare_ && delimiter_ != ' ';
    std::int64_t target_, line_;
    std::size_t word_bytes_;
    std::vector<WordTable> tables_;
    std::vector<ColumnGuess> guesses_;
    std::vector<std::size_t> word_columns_, guessed_;  // columns of words; with a guess that is not "number"
    std::vector<CsvParser> part_parsers_;
    std::size_t n_rows_ = 0, word_bytes_used_ = 0;
    bool full_ = false;
    TextError error_{};
};

}  // namespace maxmargin
