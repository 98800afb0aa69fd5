// The kernels: each is a function of a product or distance of two rows.
#pragma once

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

#include "maxmargin/core/simd.hpp"

namespace maxmargin {

// squared_distance is rbf without its map, for the median heuristic.
enum class KernelKind { linear, polynomial, rbf, sigmoid, laplacian, exponential, squared_distance };

struct Kernel {
    KernelKind kind;
    double gamma, coef0, degree;

    // True where the map starts from the product <x,z> alone.
    bool of_product() const { return !of_squared_distance() && kind != KernelKind::laplacian; }
    bool of_distance() const { return kind == KernelKind::exponential; }  // root of the squared one
    bool of_squared_distance() const {
        return kind == KernelKind::rbf || kind == KernelKind::squared_distance || of_distance();
    }

    // Turns products, squared distances (rbf), L1 distances (laplacian) or distances (exponential) into
    // kernel values, in place.
    template <class T>
    void map(T* t, std::size_t n) const {
        const SimdOps<T>& ops = simd().of<T>();
        switch (kind) {
            case KernelKind::linear:
            case KernelKind::squared_distance:
                return;
            case KernelKind::polynomial:
                return ops.power(t, gamma, coef0, degree, n);
            case KernelKind::sigmoid:
                return ops.tanh(t, gamma, coef0, n);
            case KernelKind::rbf:
            case KernelKind::laplacian:
            case KernelKind::exponential:
                return ops.exp_minus(t, gamma, n);
        }
    }

    // When to distrust x2 + z2 - 2 <x,z> over d features. The worst error of a product is d/2 eps |x| |z|;
    // the usual one is a few eps, and it matters once gamma times it exceeds the tolerance. A kernel value
    // below e^-20 is too small to matter. (A squared distance has gamma 0, so its error never matters.) An
    // error e of a squared distance t is one of e / (2 sqrt(t)) of the distance, so for the exponential
    // kernel it matters where sqrt(t) < gamma e / (2 tolerance), and at values above e^-30.
    template <class T>
    ExpansionLimits<T> limits(std::size_t d) const {
        constexpr T eps = std::numeric_limits<T>::epsilon();
        constexpr double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-12;
        const T noise = T(0.5 * double(d) + 4.0) * eps;
        if (of_distance())
            return {noise, std::numeric_limits<T>::infinity(), T(30.0 / gamma * (30.0 / gamma)),
                    T(2.0 * double(eps) * gamma / tolerance)};
        return {noise, T(tolerance / (4.0 * double(eps) * gamma)), T(20.0 / gamma), T(0)};
    }
};

inline KernelKind kernel_kind(const std::string& name) {
    if (name == "linear") return KernelKind::linear;
    if (name == "polynomial") return KernelKind::polynomial;
    if (name == "rbf") return KernelKind::rbf;
    if (name == "sigmoid") return KernelKind::sigmoid;
    if (name == "laplacian") return KernelKind::laplacian;
    if (name == "exponential") return KernelKind::exponential;
    if (name == "squared-distance") return KernelKind::squared_distance;
    throw std::invalid_argument(
        "kernel must be 'linear', 'polynomial', 'rbf', 'sigmoid', 'laplacian', 'exponential' or "
        "'squared-distance'; got '" +
        name + "'.");
}

}  // namespace maxmargin
