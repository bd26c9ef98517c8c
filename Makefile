# The front door. The work is done by CMake and by the scripts in tools/; this names the ways in.
#   make demo              install what is missing, build, train a small network, compare two devices
#   make check             install what is missing, build, run the tests (10 minutes on 2 cores)
#   make check-full        sanitizers, Oclgrind, valgrind, clang, install test (50 minutes more)
#   make check-arm         the same bits on ARM and on x86-64 without AVX, emulated
#   make fuzz              each reader of files against made-up ones, a minute each (SECONDS=60)
#   make check-exhaustive  sweeps over all 2^32 inputs (hours)
#   make bench             speed against the machine's limit; bench-arithmetic: cost of the definitions
#   make install PREFIX=/somewhere [DESTDIR=...]
#   make format, make clean

BUILD  ?= build/release
PREFIX ?= /usr/local
SECONDS ?= 60
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)

.PHONY: all build setup setup-full setup-arm demo check check-full check-arm fuzz check-exhaustive bench bench-arithmetic \
	install format clean

all: build

setup:
	@tools/setup

setup-full:
	@tools/setup --full

setup-arm:
	@tools/setup --arm

build:
	@cmake --preset release -B $(BUILD)
	@cmake --build $(BUILD) -j $(JOBS)

demo: setup
	@$(MAKE) --no-print-directory build
	@tools/demo $(BUILD)

check: setup
	@tools/check-quick

check-full: setup-full
	@tools/check-full

check-arm: setup-arm
	@tools/check-arm

fuzz: setup-full
	@tools/fuzz $(SECONDS)

check-exhaustive: setup
	@tools/check-exhaustive

bench: setup
	@$(MAKE) --no-print-directory build
	@$(BUILD)/weft bench

bench-arithmetic: setup-full
	@bench/arithmetic/run.sh

install: build
	@DESTDIR="$(DESTDIR)" cmake --install $(BUILD) --prefix "$(PREFIX)"

format:
	@tools/format

clean:
	@cmake -E rm -rf build
