# Every command sets up what it needs: python3 (3.11 or newer, with headers), a C++20 compiler and make
# are enough. A second run is fast; a changed source is installed again before anything uses it.
#
#   make PYTHON=python3.13 VENV=.venv313 test     another interpreter, beside the first

PYTHON ?= python3
VENV ?= .venv
# Processes that share the tests: one more than there are cores, since some tests wait for processes of their own.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
STAMPS := $(VENV)/stamps
LOGS := build/logs
# Bytecode is stored: tests start hundreds of processes, and each would compile SciPy and scikit-learn again.
unexport PYTHONDONTWRITEBYTECODE
# A build of its own for each environment: compiled files of two interpreters never meet.
NATIVE := build/$(notdir $(VENV))

# Tests that need larger data sets look here, and are skipped where there is none.
ifeq ($(origin MAXMARGIN_DATA), undefined)
ifneq ($(wildcard ../shared/data),)
export MAXMARGIN_DATA := $(abspath ../shared/data)
endif
endif

# Folders count too: their time changes when a file is removed.
PACKAGE := pyproject.toml CMakeLists.txt README.md LICENSE $(shell find src cpp -not -path '*/__pycache__*')
CPP := $(shell find cpp -name '*.hpp' -o -name '*.cpp' -o -name '*.inc')
NATIVE_TESTS := $(addprefix tests/,_native/test_wrong_arrays.py _native/test_malformed_sparse.py _native/test_simd.py _native/test_threads.py kernels/test_kernels.py kernels/test_extreme_values.py kernels/test_native_arguments.py _native/test_grid.py test_losses.py data/test_rows.py methods/linear/test_hinge_round.py methods/linear/test_solvers.py methods/baselines/test_online.py methods/baselines/test_lasvm.py methods/baselines/test_matching_pursuit.py methods/budget/test_incremental.py decoders/test_decoders.py base/test_kernel_classifier.py methods/all_pairs/test_all_pairs.py io/readers/test_any_bytes.py io/readers/test_csv_errors.py)

# Processes that share the cores leave BLAS one thread each: its threads wait by spinning.
ALONE := OPENBLAS_NUM_THREADS=1

# $(call quietly,name,command): the command's output goes to a log, and to the screen only if it fails.
quietly = @mkdir -p $(LOGS) && { $(2); } > $(LOGS)/$(1).log 2>&1 || { cat $(LOGS)/$(1).log; exit 1; }

# $(call stage,name,command): the same, and one line when it is done: its name, its seconds, its last line.
stage = @mkdir -p $(LOGS); start=$$(date +%s); { $(2); } > $(LOGS)/$(1).log 2>&1; status=$$?; \
  [ $$status = 0 ] || cat $(LOGS)/$(1).log; \
  printf '%-12s %4d s  %s\n' '$(1)' $$(($$(date +%s) - start)) "$$(grep . $(LOGS)/$(1).log | tail -n 1)"; \
  exit $$status

.PHONY: help demo test docs wheel lint types cpp-test unit-test fuzz bench bench-hard bench-large bench-quick evidence pictures papers papers-quick sanitize soak clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(STAMPS)/package  ## train on data sets that come with scikit-learn, print a table, write a report
	@$(VENV)/bin/python examples/demo.py
	@echo && $(VENV)/bin/python -m maxmargin demo --folder build/demo

# The checks that need one core each run beside the compiler, quick benchmarks beside the tests.
test:  ## lint, check types, run every test and every benchmark on small inputs
	@$(MAKE) --no-print-directory $(STAMPS)/tools
	@$(MAKE) --no-print-directory -j2 lint types cpp-test
	@$(MAKE) --no-print-directory -j2 bench-quick unit-test

# Warnings are errors, and nothing is fetched: formulas, fonts and search come from packages.
SITE := build/docs
docs: $(STAMPS)/package $(STAMPS)/docs  ## the site with its gallery: build/docs/html/index.html
	$(call stage,docs,$(VENV)/bin/python docs/stage.py $(SITE)/source \
	  && $(VENV)/bin/python -m sphinx -b html -W --keep-going -q $(SITE)/source $(SITE)/html \
	  && $(VENV)/bin/python docs/check.py $(SITE)/html)

# The wheel is tried in an empty environment without a compiler, the source distribution is compiled again.
wheel: $(STAMPS)/tools  ## dist/: a wheel and a source distribution, built and tried
	$(call stage,build,rm -rf dist && PATH="$(abspath $(VENV))/bin:$$PATH" $(VENV)/bin/python -m build --no-isolation \
	  -C build-dir=$(NATIVE)/wheel --wheel --sdist --outdir dist .)
	@$(VENV)/bin/python tests/packages.py dist

lint: $(STAMPS)/tools
	$(call stage,lint,$(VENV)/bin/clang-format --dry-run -Werror $(CPP) && $(VENV)/bin/ruff format --check --quiet . \
	  && $(VENV)/bin/ruff check .)

types: $(STAMPS)/tools
	$(call stage,types,$(VENV)/bin/mypy)

cpp-test: $(STAMPS)/package
	$(call stage,cpp-test,$(NATIVE)/package/maxmargin_tests)

unit-test: $(STAMPS)/package
	@echo "pytest: a few minutes; $(LOGS)/pytest.log grows meanwhile"
	$(call stage,pytest,$(ALONE) $(VENV)/bin/python -m pytest --quiet --numprocesses $(WORKERS) --dist worksteal)
	@tail -n 1 $(LOGS)/pytest.log

# The properties that make test tries on the same examples every time, on new ones.
SECONDS ?= 600
fuzz: $(STAMPS)/package  ## every property with fresh seeds: make fuzz SECONDS=600
	@$(VENV)/bin/python tests/fuzz.py --seconds $(SECONDS)

# One page, benchmarks/results/README.md, bound to one commit. A run that was stopped is resumed by the same
# command; the tables come in order of importance, and no cell begins after MINUTES. RETRY=1 repeats failed cells.
MINUTES ?= 90
BENCH = $(VENV)/bin/python benchmarks/run.py --output benchmarks/results $(if $(RETRY),--retry)
PEERS := $(STAMPS)/package $(STAMPS)/peers $(STAMPS)/thunder

bench: $(PEERS)  ## every table, at most 90 minutes: benchmarks/results/README.md; make bench MINUTES=30
	@$(BENCH) --suite bench --minutes $(MINUTES)
	@$(VENV)/bin/python benchmarks/readme_table.py

bench-hard: $(PEERS)  ## the whole grid of hard problems, hours; into the same page
	@$(BENCH) --suite hard

bench-large: $(PEERS)  ## the whole of covtype, an hour or more; into the same page
	@$(BENCH) --suite large

# Seconds instead of minutes: that every benchmark runs is checked by make test, how fast it is by make bench.
bench-quick: $(STAMPS)/package
	$(call stage,bench-quick,$(ALONE) $(VENV)/bin/python benchmarks/run.py --suite quick --output build/bench)

# Nothing is measured here: python benchmarks/evidence --measure NAME does that, and writes the page.
evidence: $(STAMPS)/package  ## numbers and pictures of README and site against their stored records; seconds
	@$(VENV)/bin/python benchmarks/evidence

pictures: $(STAMPS)/package  ## the guides' pictures of pages and terminals, by the present code; needs Chromium
	@$(VENV)/bin/python docs/pictures.py

# A paper's status is 1 where a number is not what its expected.toml says, 77 where its data are missing.
papers: $(STAMPS)/package  ## reproduce the papers: benchmarks/papers/*/results, half an hour
	@status=0; for paper in benchmarks/papers/*/; do \
	  $(VENV)/bin/python $${paper}run.py || status=1; done; exit $$status

papers-quick: $(STAMPS)/package  ## the same on few rows, a minute; reports in build/papers
	@status=0; for paper in benchmarks/papers/*/; do \
	  $(VENV)/bin/python $${paper}run.py --quick --output build/papers/$$(basename $$paper) || status=1; done; \
	exit $$status

# Long proofs whose quick variants are among the tests: each script of tests/soak ends with 0 if all went well.
soak: $(STAMPS)/package  ## mutated model files by the thousand, processes killed while they save or train; minutes
	@MAXMARGIN_HYPOTHESIS=fuzz $(VENV)/bin/python -m pytest -q -n $(WORKERS) tests/base/test_contract.py tests/dask/test_contract.py -k scikit_learn
	@status=0; for script in tests/soak/*.py; do \
	  echo "$$script:"; $(VENV)/bin/python $$script || status=1; done; exit $$status

# For GCC. The address sanitizer must be the first library of the process, and Python itself leaks at exit. A
# core that lies in src/ is not the one to test: the sanitised one is installed last, and the tests make sure of it.
sanitize: $(STAMPS)/package  ## C++ tests and the native door's Python tests under ASan and UBSan
	@echo "building with sanitizers ..."
	$(call quietly,sanitize,$(call configure,$(NATIVE)/sanitize,-DMAXMARGIN_SANITIZE=ON) \
	  && $(VENV)/bin/cmake --build $(NATIVE)/sanitize \
	  && rm -rf $(NATIVE)/sanitize/python && mkdir $(NATIVE)/sanitize/python \
	  && cp -R src/maxmargin $(NATIVE)/sanitize/python/ && rm -f $(NATIVE)/sanitize/python/maxmargin/_core.*so \
	  && $(VENV)/bin/cmake --install $(NATIVE)/sanitize --prefix $(NATIVE)/sanitize/python)
	@ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 $(NATIVE)/sanitize/maxmargin_tests
	@export PYTHONPATH=$(NATIVE)/sanitize/python ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	&& $(VENV)/bin/python -c 'from maxmargin import _core; path = _core.__file__; assert "sanitize" in path and b"__asan_init" in open(path, "rb").read(), path' \
	&& $(VENV)/bin/python -m pytest -p no:cacheprovider $(NATIVE_TESTS)

clean:  ## remove what these commands made; .venv and build/ come back by themselves
	rm -rf build dist $(VENV) $(VENV)-thunder .mypy_cache .ruff_cache .pytest_cache .hypothesis

# $(call configure,folder,options): a build beside the package's own. Ninja and CMake come with the tools.
configure = $(VENV)/bin/cmake -S . -B $(1) -G Ninja -DCMAKE_MAKE_PROGRAM="$(abspath $(VENV))/bin/ninja" \
  -DPython_EXECUTABLE="$(abspath $(VENV))/bin/python" -DMAXMARGIN_TESTS=ON $(2)

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "maxmargin needs Python 3.11 or newer; use make PYTHON=python3.x"; exit 1; }
	$(call stage,venv,$(PYTHON) -m venv $(VENV) && $(VENV)/bin/python -m pip install --upgrade 'pip>=25.1')
	@mkdir -p $(STAMPS) && touch $@

# Everything but the package itself: build requirements, linters, test tools. Python compiles what is imported.
$(STAMPS)/tools: $(STAMPS)/venv pyproject.toml
	$(call stage,tools,$(VENV)/bin/python -m pip install --no-compile --group build --group dev && echo "installed into $(VENV)")
	@touch $@

# The build requirements are in the environment already, so the compiled files of the last build stay valid.
# The C++ tests are compiled with the package: they share its largest units.
$(STAMPS)/package: $(STAMPS)/tools $(PACKAGE)
	$(call stage,package,PATH="$(abspath $(VENV))/bin:$$PATH" $(VENV)/bin/python -m pip install --no-build-isolation \
	  -C build-dir=$(NATIVE)/package -C cmake.define.MAXMARGIN_TESTS=ON . && echo "compiled and installed into $(VENV)")
	@touch $@

$(STAMPS)/docs: $(STAMPS)/tools
	$(call stage,doc-tools,$(VENV)/bin/python -m pip install --no-compile --group docs && echo "installed into $(VENV)")
	@touch $@

# What the speed table compares with. Where a peer cannot be installed its rows are left out.
$(STAMPS)/peers: $(STAMPS)/tools
	@$(VENV)/bin/python -m pip install --quiet --group bench || echo "some peers could not be installed"
	@touch $@

# A peer of 2019 that is left alone with its own numpy and scikit-learn. benchmarks/harness/machine.py looks for it here.
$(STAMPS)/thunder: $(STAMPS)/venv pyproject.toml
	@{ $(PYTHON) -m venv $(VENV)-thunder && \
	  $(VENV)/bin/python -m pip --python $(VENV)-thunder/bin/python install --quiet --group thunder; } \
	  || echo "ThunderSVM could not be installed; its cells will say so"
	@touch $@
