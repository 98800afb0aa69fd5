// Words to numbers 0, 1, ... in the order in which they come.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace maxmargin {

// A hash table with open addressing; the bytes of all words are stored contiguously.
class WordTable {
  public:
    // The word's number; `n_bytes` grows by about what a new word takes, as a string of Python's too.
    std::int32_t code(std::string_view word, std::size_t& n_bytes) {
        const std::uint64_t hash = hash_of(word);
        if (2 * (size() + 1) > slots_.size()) grow();
        for (std::size_t s = hash & (slots_.size() - 1);; s = (s + 1) & (slots_.size() - 1)) {
            Slot& slot = slots_[s];
            if (slot.code < 0) {
                slot = {hash, std::int32_t(size())};
                bytes_.append(word);
                ends_.push_back(bytes_.size());
                n_bytes += word.size() + 96;
                return slot.code;
            }
            if (slot.hash == hash && (*this)[std::size_t(slot.code)] == word) return slot.code;
        }
    }

    std::size_t size() const { return ends_.size(); }

    std::string_view operator[](std::size_t code) const {
        const std::size_t begin = code == 0 ? 0 : ends_[code - 1];
        return std::string_view(bytes_).substr(begin, ends_[code] - begin);
    }

    void clear() { *this = WordTable(); }

  private:
    struct Slot {
        std::uint64_t hash = 0;
        std::int32_t code = -1;
    };

    // A new seed in every process, so that no file can be crafted whose words all collide.
    static std::uint64_t hash_of(std::string_view word) {
        static const std::uint64_t seed = std::random_device{}() | std::uint64_t(std::random_device{}())
                                                                       << 32;
        const char* p = word.data();
        std::uint64_t hash = seed ^ word.size();
        std::size_t n = word.size();
        std::uint64_t part = 0;
        for (; n >= 8; n -= 8, p += 8) {
            std::memcpy(&part, p, 8);
            hash = mixed(hash ^ part);
        }
        part = 0;
        for (std::size_t i = 0; i < n; ++i) part = part << 8 | static_cast<unsigned char>(p[i]);
        return mixed(hash ^ part);
    }

    static std::uint64_t mixed(std::uint64_t bits) {
        bits *= 0x9E3779B97F4A7C15u;
        return bits ^ bits >> 29;
    }

    void grow() {
        std::vector<Slot> wider(slots_.empty() ? 16 : 2 * slots_.size());
        for (const Slot& slot : slots_) {
            if (slot.code < 0) continue;
            std::size_t s = slot.hash & (wider.size() - 1);
            while (wider[s].code >= 0) s = (s + 1) & (wider.size() - 1);
            wider[s] = slot;
        }
        slots_.swap(wider);
    }

    std::vector<Slot> slots_;
    std::string bytes_;
    std::vector<std::size_t> ends_;
};

}  // namespace maxmargin
