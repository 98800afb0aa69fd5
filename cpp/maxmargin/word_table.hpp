// Words to numbers 0, 1, ... in the order in which they come.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace maxmargin {

class WordTable {
  public:
    // The word's number; `n_bytes` grows by about what a new word takes.
    std::int32_t code(std::string_view word, std::size_t& n_bytes) {
        if (last_ >= 0 && words_[std::size_t(last_)] == word) return last_;
        const auto found = codes_.find(word);
        if (found != codes_.end()) return last_ = found->second;
        words_.emplace_back(word);
        n_bytes += word.size() + sizeof(std::string) + 64;
        last_ = std::int32_t(words_.size()) - 1;
        codes_.emplace(words_.back(), last_);
        return last_;
    }

    const std::deque<std::string>& words() const { return words_; }

    void clear() {
        codes_.clear();
        words_.clear();
        last_ = -1;
    }

  private:
    std::deque<std::string> words_;  // stay where they are: the map's keys look at them
    std::unordered_map<std::string_view, std::int32_t> codes_;
    std::int32_t last_ = -1;
};

}  // namespace maxmargin
