// A tile of products between rows x and packed rows z, in a cache-friendly order.
#pragma once

#include <algorithm>
#include <vector>

#include "maxmargin/core/simd.hpp"

namespace maxmargin {

// x (n, d) by rows; z (m, d) in panels, as pack_panels leaves them
template <class In>
struct PanelTile {
    const In* x;
    std::size_t n;
    const In* panels;
    std::size_t m, d;
};

// Packs the m rows of a dense tile into panels for PanelTask; the last panel is padded with zeros.
template <class T>
void pack_panels(const T* rows, std::size_t m, std::size_t d, T* out) {
    constexpr std::size_t WIDTH = panel_width<T>;
    for (std::size_t first = 0; first < m; first += WIDTH) {
        const std::size_t count = std::min(WIDTH, m - first);
        for (std::size_t k = 0; k < d; ++k, out += WIDTH) {
            for (std::size_t j = 0; j < count; ++j) out[j] = rows[(first + j) * d + k];
            std::fill(out + count, out + WIDTH, T{});
        }
    }
}
template <class T>
std::size_t packed_size(std::size_t m, std::size_t d) {
    return (m + panel_width<T> - 1) / panel_width<T> * panel_width<T> * d;
}

// A few panels of z, or a slice of one, stay in the L1 cache while all x are multiplied with them. add(task)
// adds a slice to the given sums; last(task, i, j) computes rows i.. and columns j.. of out.
template <class In, class Out, class Add, class Last>
void walk_panels(const PanelTile<In>& tile, std::vector<PanelSum<In>>& sums, Out* out, std::size_t stride,
                 Add&& add, Last&& last) {
    constexpr std::size_t WIDTH = panel_width<In>, FEATURE = sizeof(In) * WIDTH;
    constexpr std::size_t MAX_SLICE_FEATURES = 16384 / FEATURE,
                          MAX_PANEL_FEATURES = 20480 / FEATURE;  // of a slice, of panels
    const std::size_t d = tile.d,
                      slices = std::max<std::size_t>((d + MAX_SLICE_FEATURES - 1) / MAX_SLICE_FEATURES, 1);
    const std::size_t slice = ((d + slices - 1) / slices + 1) / 2 * 2;  // pairs of codes stay together
    const std::size_t chunk =
        std::max<std::size_t>(MAX_PANEL_FEATURES / std::max<std::size_t>(d, 1), 1) * WIDTH;
    if (slices > 1) sums.resize((tile.n + panel_rows) * WIDTH);
    for (std::size_t j = 0; j < tile.m; j += chunk)
        for (std::size_t s = 0; s < slices; ++s)
            for (std::size_t i = 0; i < tile.n; i += panel_rows) {
                const std::size_t k = s * slice, count = std::min(slice, d - k);
                const In *x = tile.x + i * d + k, *panels = tile.panels + j * d + k * WIDTH;
                const std::size_t n = std::min(panel_rows, tile.n - i), m = std::min(chunk, tile.m - j);
                PanelSum<In>* so_far = sums.data() + i * WIDTH;
                const PanelSum<In>* start = s > 0 ? so_far : nullptr;
                if (s + 1 < slices)
                    add(PanelTask<In>{x, d, n, panels, m, count, start, so_far, WIDTH});
                else
                    last(PanelTask<In, Out>{x, d, n, panels, m, count, start, out + i * stride + j, stride},
                         i, j);
            }
}

}  // namespace maxmargin
