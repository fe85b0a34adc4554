# A thin door to CMake. Everything is built under build/.
#   make          set up, configure and build the product alone, without tests
#                                                    make install   PREFIX=/usr/local DESTDIR=
#   make demo     solve the pendulum, draw it        make format    lay out all sources
#   make test     both builds and all tests          make bench     compare with other codes
#                                                                  (BENCH_ARGS=--quick)
#   make trial    long studies by hand (TRIAL_MODELS=100000)
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SOURCE_DIRS = src include cli report sweep modules models petsc test examples bench

.PHONY: all setup configure build demo test trial bench install format clean
# The steps of one target are in order; the tools below run in parallel by themselves.
.NOTPARALLEL:

all: build

setup:
	@scripts/setup

configure: setup
	@echo "== configure (build/release)"
	@scripts/configure release -DCMAKE_INSTALL_PREFIX="$(PREFIX)"

build: configure
	@echo "== build (build/release)"
	@cmake --build --preset release -j $(JOBS)

demo: build
	@echo "== demo"
	@mkdir -p demo
	@build/release/daedal run models/pendulum.mo -o demo/pendulum.csv --plot demo/pendulum.svg
	@echo "The picture is demo/pendulum.svg."

test: build
	@scripts/setup test
	@echo "== build the tests (build/release)"
	@scripts/configure release
	@cmake --build --preset release-tests -j $(JOBS)
	@echo "== configure and build with sanitizers (build/debug)"
	@scripts/configure debug
	@cmake --build --preset debug -j $(JOBS)
	@echo "== test with sanitizers, then the release"
	@ctest --preset debug -j $(JOBS); debug=$$?; \
	ctest --preset release -j $(JOBS) && exit $$debug

trial: build
	@scripts/setup test
	@cmake --build build/release --target trial_textbook trial_judge_rows trial_verify_as -j $(JOBS)
	@scripts/trial

bench: setup
	@scripts/setup bench
	@echo "== configure and build (build/bench)"
	@scripts/configure bench
	@cmake --build --preset bench -j $(JOBS)
	@echo "== bench"
	@build/bench/bench/bench_peers $(BENCH_ARGS)

install: build
	@echo "== install into $(DESTDIR)$(PREFIX)"
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

format:
	@scripts/setup test
	@find $(SOURCE_DIRS) -name '*.[ch]' -exec clang-format -i {} +

clean:
	rm -rf build demo
