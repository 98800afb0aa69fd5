// Random numbers as a function of (seed, counter): the seed and a count are the whole state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace maxmargin {

// A bijection of 64-bit words in which every input bit affects every output bit (splitmix64 finaliser).
inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

class Rng {
  public:
    Rng(std::uint64_t seed, std::uint64_t stream) : key_(mix(seed + 0x9e3779b97f4a7c15ULL * (stream + 1))) {}

    std::uint64_t next() { return mix(key_ + 0x9e3779b97f4a7c15ULL * ++counter_); }

    // Uniform on 0 .. n-1 for n < 2^32, by the high half of a 64-bit product (bias below n / 2^32).
    std::size_t below(std::size_t n) { return std::size_t(((next() >> 32) * std::uint64_t(n)) >> 32); }

  private:
    std::uint64_t key_, counter_ = 0;
};

template <class T>
void shuffle(T* items, std::size_t n, Rng& rng) {
    for (std::size_t i = n; i > 1; --i) std::swap(items[i - 1], items[rng.below(i)]);
}

}  // namespace maxmargin
