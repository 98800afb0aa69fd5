// The whole test framework: a check that says where it failed, and a count.
#pragma once

#include <cstdio>

inline int n_failed = 0;

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            ++n_failed;                                                          \
        }                                                                        \
    } while (false)
