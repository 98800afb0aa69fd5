// Bindings of the linear solvers' native steps.
#include "python.hpp"

void bind_linear(nb::module_&) {}
