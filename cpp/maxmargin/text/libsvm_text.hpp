// LIBSVM's text: "label index:value index:value ... # comment", one row a line, indices ascending.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "maxmargin/text/text_error.hpp"
#include "maxmargin/text/text_number.hpp"
#include "maxmargin/text/utf8.hpp"
#include "maxmargin/text/word_table.hpp"

namespace maxmargin {

// Rows of one file, piece by piece, as CSR. Columns are numbered from 0; in the text from `first_index`.
// A block is full when it has `capacity` rows or about `max_entries` entries: that depends on the rows alone.
class LibsvmParser {
  public:
    LibsvmParser(std::int64_t first_index, std::int64_t n_features, MissingWords missing, std::int64_t line,
                 std::size_t max_entries)
        : first_index_(first_index),
          n_features_(n_features),
          missing_(std::move(missing)),
          line_(line),
          max_entries_(max_entries) {}

    // Takes rows from a text; returns how many bytes of it are done with.
    std::size_t feed(std::string_view text, bool at_end, std::size_t capacity) {
        const char* first = text.data();
        const char* last = first + text.size();
        const char* bad = first_bad_byte(first, last, at_end);
        const char* p = first;
        while (p < last && !full_) {
            const char* end = static_cast<const char*>(std::memchr(p, '\n', std::size_t(last - p)));
            if (!end && !at_end) break;
            const char* next = end ? end + 1 : last;
            if (!end) end = last;
            if (bad && bad >= p && bad < end) {
                fail(*bad == 0 ? "NUL byte" : "not UTF-8", p, bad, bad + 1);
                error_.byte = bad - first;
            } else {
                row(p, end);
            }
            if (error_) break;
            p = next;
            ++line_;
            full_ = starts_.size() > capacity || values_.size() >= max_entries_;
        }
        return std::size_t(p - first);
    }

    void next_block() {
        full_ = false;
        starts_.assign(1, 0);
        indices_.clear();
        values_.clear();
        codes_.clear();
        labels_.clear();
    }

    bool full() const { return full_; }
    std::size_t n_rows() const { return codes_.size(); }
    std::int64_t line() const { return line_; }
    std::int64_t n_columns_seen() const { return n_columns_seen_; }
    const TextError& error() const { return error_; }
    const WordTable& labels() const { return labels_; }
    const std::vector<std::int32_t>& codes() const { return codes_; }
    const std::vector<std::int64_t>& starts() const { return starts_; }
    const std::vector<std::int32_t>& indices() const { return indices_; }
    const std::vector<double>& values() const { return values_; }

  private:
    static bool is_blank(char c) { return c == ' ' || c == '\t'; }

    void fail(const char* what, const char* line, const char* at, const char* to) {
        error_ = {what, line_, 1 + (at - line), 0, 0, excerpt({at, std::size_t(to - at)})};
    }

    void row(const char* line, const char* end) {
        if (end > line && end[-1] == '\r') --end;
        if (const void* comment = std::memchr(line, '#', std::size_t(end - line)))
            end = static_cast<const char*>(comment);
        while (end > line && is_blank(end[-1])) --end;
        const char* p = line;
        while (p < end && is_blank(*p)) ++p;
        if (p == end) return;
        p = label(line, p, end);
        std::int64_t previous = -1;
        while (p && p < end) {
            if (is_blank(*p))
                ++p;
            else
                p = entry(line, p, end, previous);
        }
        if (!error_) starts_.push_back(std::int64_t(values_.size()));
    }

    const char* label(const char* line, const char* p, const char* end) {
        const char* e = p;
        while (e < end && !is_blank(*e)) ++e;
        const std::string_view word(p, std::size_t(e - p));
        if (word.find(':') != std::string_view::npos)
            fail("no label", line, p, e);
        else if (word.find(',') != std::string_view::npos)
            fail("several labels", line, p, e);
        else if (missing_.contains(word))
            fail("missing label", line, p, e);
        if (error_) return nullptr;
        codes_.push_back(labels_.code(word, label_bytes_));
        return e;
    }

    // One "index:value" at p; `previous` is the column before it.
    const char* entry(const char* line, const char* p, const char* end, std::int64_t& previous) {
        const char* e = p;
        while (e < end && !is_blank(*e)) ++e;
        const auto refuse = [&](const char* what) {
            fail(what, line, p, e);
            return nullptr;
        };
        std::int64_t index = 0;
        const char* q = p;
        for (; q < e && is_digit(*q); ++q)
            if (index <= most_) index = 10 * index + (*q - '0');
        if (q == e) return refuse("no colon");
        if (q == p || *q != ':') return refuse(name_of_wrong_index(p, e));
        const std::int64_t column = index - first_index_;
        if (column < 0) return refuse("index 0");
        if (column >= most_) return refuse("index too large");
        if (column >= n_features_) return refuse("more features");
        if (column <= previous) return refuse(column == previous ? "repeated index" : "index out of order");
        const ParsedNumber value = parse_number(++q, e);
        const bool whole = value.what != NumberIs::not_a_number && value.end == e;
        if (!whole || value.what == NumberIs::not_finite) {
            const bool infinite = whole || is_infinity({q, std::size_t(e - q)});
            return refuse(infinite ? "not finite" : "not a number");
        }
        indices_.push_back(std::int32_t(column));
        values_.push_back(value.value);
        previous = column;
        n_columns_seen_ = std::max(n_columns_seen_, column + 1);
        return e;
    }

    static const char* name_of_wrong_index(const char* p, const char* e) {
        const std::string_view token(p, std::size_t(e - p));
        if (token.substr(0, 4) == "qid:") return "qid";
        if (token.find(':') == std::string_view::npos) return "no colon";
        return token.size() > 1 && token[0] == '-' && is_digit(token[1]) ? "negative index" : "index";
    }

    static constexpr std::int64_t most_ = 2147483647;  // columns are numbered in 32 bits
    std::int64_t first_index_, n_features_;
    MissingWords missing_;
    std::int64_t line_;
    std::size_t max_entries_;
    std::vector<std::int64_t> starts_{0};
    std::vector<std::int32_t> indices_, codes_;
    std::vector<double> values_;
    WordTable labels_;
    std::size_t label_bytes_ = 0;
    std::int64_t n_columns_seen_ = 0;
    bool full_ = false;
    TextError error_{};
};

}  // namespace maxmargin
