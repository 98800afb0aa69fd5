// An error in a text file and its position: parsers report it in this form and never throw.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace maxmargin {

struct TextError {
    const char* what = nullptr;  // a name, such as "short row"; nullptr while all is well
    std::int64_t line = 0;       // from 1
    std::int64_t column = 0;     // CSV: number of the field, from 0; LIBSVM: character of the line, from 1
    std::int64_t byte = 0;       // position in the text that was given
    std::int64_t count = 0;      // fields of a row that has too few or too many
    std::string found;           // the beginning of what is there

    explicit operator bool() const { return what != nullptr; }
};

inline std::string excerpt(std::string_view text) { return std::string(text.substr(0, 60)); }

// Values that stand for a missing one.
class MissingWords {
  public:
    void add(std::string word) {
        longest_ = std::max(longest_, word.size());
        if (word.empty()) {
            empty_ = true;
        } else {
            starts_[static_cast<unsigned char>(word[0])] = true;
            numeric_ = numeric_ || std::string_view("+-.0123456789").find(word[0]) != std::string_view::npos;
        }
        words_.push_back(std::move(word));
    }

    bool contains(std::string_view text) const {
        if (text.empty()) return empty_;
        return text.size() <= longest_ && starts_[static_cast<unsigned char>(text[0])] &&
               std::find(words_.begin(), words_.end(), text) != words_.end();
    }

    bool some_look_like_numbers() const { return numeric_; }

  private:
    std::vector<std::string> words_;
    bool starts_[256] = {};
    std::size_t longest_ = 0;
    bool empty_ = false, numeric_ = false;
};

}  // namespace maxmargin
