// Losses of the margin m = y f(x): value, slope d value / d m, conjugate sup_m (u m - value(m)), and the
// curvature of those that have one.
// The twin of losses.py: same names, same order. max(x, 0.0), in this order, lets NaN through.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace maxmargin {

inline constexpr double inf = std::numeric_limits<double>::infinity();

// max(0, -m). The slope at m = 0 is -1: an undecided sample counts as an error, or no perceptron could start.
struct Perceptron {
    static constexpr std::string_view name = "perceptron";
    static double value(double m) { return std::max(-m, 0.0); }
    static double slope(double m) { return m <= 0.0 ? -1.0 : 0.0; }
    static double conjugate(double u) { return -1.0 <= u && u <= 0.0 ? 0.0 : inf; }
};

// max(0, 1 - m)
struct Hinge {
    static constexpr std::string_view name = "hinge";
    static double value(double m) { return std::max(1.0 - m, 0.0); }
    static double slope(double m) { return m < 1.0 ? -1.0 : 0.0; }
    static double conjugate(double u) { return -1.0 <= u && u <= 0.0 ? u : inf; }
};

// max(0, 1 - m)^2 / 2
struct SquaredHinge {
    static constexpr std::string_view name = "squared-hinge";
    static double value(double m) {
        const double h = std::max(1.0 - m, 0.0);
        return 0.5 * h * h;
    }
    static double slope(double m) { return -std::max(1.0 - m, 0.0); }
    static double conjugate(double u) { return u <= 0.0 ? u * (1.0 + 0.5 * u) : inf; }
    static double curvature(double m) { return m < 1.0 ? 1.0 : 0.0; }
};

// log(1 + exp(-m)); only exp(-|m|) is ever computed, so nothing overflows
struct Log {
    static constexpr std::string_view name = "log";
    static double value(double m) { return std::max(-m, 0.0) + std::log1p(std::exp(-std::abs(m))); }
    static double slope(double m) {
        const double e = std::exp(-std::abs(m));
        return -(m > 0.0 ? e : 1.0) / (1.0 + e);
    }
    static double conjugate(double u) {
        if (!(-1.0 <= u && u <= 0.0)) return inf;
        const double p = -u, q = 1.0 + u;
        return (p > 0.0 ? p * std::log(p) : 0.0) + (q > 0.0 ? q * std::log1p(u) : 0.0);
    }
    static double curvature(double m) {
        const double e = std::exp(-std::abs(m));
        return e / ((1.0 + e) * (1.0 + e));
    }
};

// (1 - m)^2 / 2
struct Squared {
    static constexpr std::string_view name = "squared";
    static double value(double m) { return 0.5 * (1.0 - m) * (1.0 - m); }
    static double slope(double m) { return m - 1.0; }
    static double conjugate(double u) { return u * (1.0 + 0.5 * u); }
    static double curvature(double) { return 1.0; }
};

// f(Loss{}) for the loss of that name: the one place in C++ that knows names.
template <class F>
decltype(auto) visit_loss(std::string_view name, F&& f) {
    if (name == Perceptron::name) return f(Perceptron{});
    if (name == Hinge::name) return f(Hinge{});
    if (name == SquaredHinge::name) return f(SquaredHinge{});
    if (name == Log::name) return f(Log{});
    if (name == Squared::name) return f(Squared{});
    throw std::invalid_argument(
        "loss must be 'perceptron', 'hinge', 'squared-hinge', 'log' or 'squared'; got '" + std::string(name) +
        "'.");
}

// The same for losses that have a curvature.
template <class F>
decltype(auto) visit_smooth_loss(std::string_view name, F&& f) {
    if (name == SquaredHinge::name) return f(SquaredHinge{});
    if (name == Log::name) return f(Log{});
    if (name == Squared::name) return f(Squared{});
    throw std::invalid_argument("loss must be 'squared-hinge', 'log' or 'squared'; got '" +
                                std::string(name) + "'.");
}

}  // namespace maxmargin
