// Whether the index arrays of a sparse matrix can be followed: checked once, before anything reads by them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

namespace maxmargin {

// The position of the first index outside 0 .. end-1, if there is one.
//
// The loop that decides has no exit, so that it vectorises; only a bad array is searched for the place.
template <class Index>
std::optional<std::size_t> first_outside(const Index* indices, std::size_t n, std::size_t end) {
    using Unsigned = std::make_unsigned_t<Index>;  // a negative index becomes a huge one
    constexpr std::size_t largest = std::size_t(std::numeric_limits<Index>::max());
    const auto limit = Unsigned(std::min(end, largest + 1));
    Unsigned outside = 0;
    for (std::size_t p = 0; p < n; ++p) outside |= Unsigned(Unsigned(indices[p]) >= limit);
    if (!outside) return {};
    for (std::size_t p = 0;; ++p)
        if (Unsigned(indices[p]) >= limit) return p;
}

// What is wrong with the starts of n parts, which begin at 0 and never fall. Empty for nothing.
template <class Index>
std::string starts_fault(const Index* starts, std::size_t n) {
    const auto at = [](std::size_t i) { return "indptr[" + std::to_string(i) + "]"; };
    if (starts[0] != 0) return at(0) + " is " + std::to_string(starts[0]) + " instead of 0";
    bool falls = false;
    for (std::size_t i = 0; i < n; ++i) falls |= starts[i + 1] < starts[i];
    if (!falls) return {};
    std::size_t i = 0;
    while (starts[i + 1] >= starts[i]) ++i;
    return at(i + 1) + " is " + std::to_string(starts[i + 1]) + ", less than " + at(i) + ", " +
           std::to_string(starts[i]);
}

// What is wrong with the compressed indices of a matrix: rows of CSR, columns of CSC. Empty for nothing.
//
// In:   indptr (n_major + 1), indices (n_stored), with room for n_values values; n_minor, the end of indices
template <class Index>
std::string compressed_fault(const Index* indptr, std::size_t n_major, const Index* indices,
                             std::size_t n_stored, std::size_t n_values, std::size_t n_minor) {
    if (std::string fault = starts_fault(indptr, n_major); !fault.empty()) return fault;
    const std::size_t n = std::size_t(indptr[n_major]);
    if (n > n_stored || n > n_values)
        return "indptr ends at " + std::to_string(n) + ", but there are " + std::to_string(n_stored) +
               " indices and " + std::to_string(n_values) + " values";
    if (const auto p = first_outside(indices, n, n_minor))
        return "indices[" + std::to_string(*p) + "] is " + std::to_string(indices[*p]) + ", outside 0 .. " +
               std::to_string(std::int64_t(n_minor) - 1);
    return {};
}

// Whether the indices of each row ascend, so that they are sorted and none comes twice. They fall between
// rows at most: falls are counted in one pass over all of them, and those between rows are taken off.
template <class Index>
bool ascending(const Index* indptr, std::size_t n_major, const Index* indices) {
    const std::size_t n = std::size_t(indptr[n_major]);
    std::size_t falls = 0;
    for (std::size_t p = 1; p < n; ++p) falls += indices[p] <= indices[p - 1];
    for (std::size_t i = 1; i < n_major; ++i) {
        const auto p = std::size_t(indptr[i]);
        if (p > 0 && p < n && indptr[i] != indptr[i - 1]) falls -= indices[p] <= indices[p - 1];
    }
    return falls == 0;
}

}  // namespace maxmargin
