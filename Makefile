# SPDX-License-Identifier: GPL-3.0-or-later
# make            the tool and its agents          make demo      install what is missing, build, run the disabled-overhead matrix
# make check      install, build, all quick tests  make help      the other targets

VARIANT ?= release
PREFIX ?= /usr/local
CROSS_COMPILE ?= aarch64-linux-gnu-
CLANG ?= clang
Q = $(if $(V),,@)
SAY = $(if $(V),@:,@printf '  %-8s %s\n')

BUILD := build/$(VARIANT)
OBJ := $(BUILD)/obj
TOOL := $(BUILD)/memcg-ab
AGENT_HOST := $(BUILD)/memcg-ab-agent-host
AGENT_ARM64 := $(BUILD)/memcg-ab-agent-arm64
PLUGIN := $(BUILD)/memcg-ab-tcg-plugin.so
LIB := $(BUILD)/libmemcgab.a

PACKAGES := libgit2 yaml-0.1 sqlite3 gsl libarchive jansson libelf libdw nettle
WARNINGS := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wvla -Wformat=2 -Wno-missing-field-initializers -Werror
CFLAGS_release := -O2 -g1
CFLAGS_debug := -Og -g3
CFLAGS_san := -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
LDFLAGS_san := -fsanitize=address,undefined
ifeq ($(filter $(VARIANT),release debug san),)
$(error VARIANT is release, debug or san)
endif

# pkg-config is asked only by goals that compile, so that `make deps` works on a bare machine.
PKG_CFLAGS = $(shell pkg-config --cflags $(PACKAGES))
PKG_LIBS = $(shell pkg-config --libs $(PACKAGES))
# Hidden: an exported error_message or the like would stand in for a library's own.
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -fvisibility=hidden -Isrc $(WARNINGS) $(CFLAGS_$(VARIANT)) $(CFLAGS)
ALL_LDFLAGS = $(LDFLAGS_$(VARIANT)) $(LDFLAGS)

LIB_SRC := $(wildcard src/*/*.c)
TOOL_SRC := $(wildcard cmd/memcg-ab/*.c)
AGENT_SRC := $(wildcard src/agent/*.c) $(wildcard cmd/agent/*.c)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)

LIB_OBJ := $(LIB_SRC:%.c=$(OBJ)/%.o)
TOOL_OBJ := $(TOOL_SRC:%.c=$(OBJ)/%.o)
AGENT_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(wildcard cmd/agent/*.c))
STATS_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(wildcard tests/stats/*.c))
UNIT_BIN := $(UNIT_SRC:tests/unit/%.c=$(BUILD)/tests/%)
UNITS := $(UNIT_SRC:tests/unit/test_%.c=%)

all: $(TOOL) $(AGENT_HOST) $(AGENT_ARM64) $(PLUGIN)

$(OBJ)/%.o: %.c
	@mkdir -p $(@D)
	$(SAY) CC $<
	$(Q)$(CC) $(ALL_CFLAGS) $(PKG_CFLAGS) -MMD -MP -c -o $@ $<

$(LIB): $(LIB_OBJ)
	$(SAY) AR $@
	$(Q)rm -f $@ && $(AR) qcs $@ $^

$(TOOL): $(TOOL_OBJ) $(LIB)
	$(SAY) LD $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(TOOL_OBJ) $(LIB) $(PKG_LIBS) -lm

$(AGENT_HOST): $(AGENT_OBJ) $(LIB)
	$(SAY) LD $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(AGENT_OBJ) $(LIB) -lm -pthread

# The agent that runs on the device is the same in every variant: optimised, static, libc only.
$(AGENT_ARM64): $(AGENT_SRC) $(wildcard src/agent/*.h) Makefile
	@mkdir -p $(@D)
	$(SAY) CROSS $@
	$(Q)$(CROSS_COMPILE)gcc -std=gnu11 -D_GNU_SOURCE -Isrc $(WARNINGS) -Os -static -s -ffunction-sections -fdata-sections -Wl,--gc-sections \
		-Wl,--build-id=none -ffile-prefix-map=$(CURDIR)=. -o $@ $(AGENT_SRC) -lm -pthread

# Runs within QEMU; the same in every variant.
$(PLUGIN): $(wildcard cmd/tcg-plugin/*.[ch]) Makefile
	@mkdir -p $(@D)
	$(SAY) PLUGIN $@
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -fvisibility=hidden $(WARNINGS) -O2 -g -fPIC -shared -Wl,--build-id=none \
		-ffile-prefix-map=$(CURDIR)=. -o $@ $(wildcard cmd/tcg-plugin/*.c)

$(BUILD)/tests/%: tests/unit/%.c $(LIB)
	@mkdir -p $(@D)
	$(SAY) TEST $@
	$(Q)$(CC) $(ALL_CFLAGS) $(PKG_CFLAGS) -Itests/unit -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(LIB) $(PKG_LIBS) -lcmocka -lm -pthread

# The simulation suite; `make check` runs its short form.
$(BUILD)/check-stats: $(STATS_OBJ) $(LIB)
	$(SAY) LD $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(STATS_OBJ) $(LIB) $(PKG_LIBS) -lm

check-stats: deps-build
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) $(BUILD)/check-stats
	$(Q)$(BUILD)/check-stats full

unit-%: $(BUILD)/tests/test_% $(AGENT_HOST)
	$(Q)MEMCG_AB_ROOT=$(CURDIR) MEMCG_AB_BUILD=$(CURDIR)/$(BUILD) $<

unit-binaries: $(UNIT_BIN) $(AGENT_HOST)

unit: unit-binaries
	$(Q)tests/run-units $(BUILD)

-include $(LIB_OBJ:.o=.d) $(TOOL_OBJ:.o=.d) $(AGENT_OBJ:.o=.d) $(STATS_OBJ:.o=.d) $(UNIT_BIN:=.d)

# Goals that start on a bare machine install what they need first.
deps-%:
	$(Q)tools/install-deps $(subst +, ,$*)

demo: deps-build
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)tools/demo $(TOOL)

# What CI runs (.ci/run). Everything is built by sub-makes, after the packages are there.
check: deps-build+check
	$(Q)tests/check

format-check:
	$(Q)clang-format --dry-run -Werror $(FORMATTED)

format:
	$(Q)clang-format -i $(FORMATTED)

FORMATTED = $(wildcard src/*/*.[ch] cmd/*/*.[ch] tests/*/*.[ch] share/*/*.[ch])

rooms-check:
	$(Q)tests/check-rooms

lint: deps-build+check+clang
	$(Q)$(MAKE) --no-print-directory format-check rooms-check
	$(Q)cppcheck -q -j $$(nproc) --error-exitcode=1 --inline-suppr --std=c11 --enable=warning,portability -Isrc --suppress=missingIncludeSystem \
		--suppress=normalCheckLevelMaxBranches --suppress=unknownMacro --suppress=invalidLifetime --suppress=returnDanglingLifetime src cmd
	$(Q)printf '%s\n' $(LIB_SRC) $(TOOL_SRC) | xargs -P $$(nproc) -n 8 sh -c \
		'clang-tidy --quiet --warnings-as-errors="*" "$$@" -- -std=gnu11 -D_GNU_SOURCE -Isrc -Icmd/memcg-ab $(PKG_CFLAGS)' clang-tidy

# Each harness runs FUZZ_SECONDS on its seeds; a finding stops with the input that made it.
FUZZ_SECONDS ?= 60
FUZZ_BIN := $(FUZZ_SRC:tests/fuzz/%.c=build/fuzz/%)

FUZZ_OBJ := $(LIB_SRC:%.c=build/fuzz/obj/%.o)
FUZZ_CC = $(CLANG) -std=gnu11 -D_GNU_SOURCE -fvisibility=hidden -Isrc -g -O1 -Wno-gnu $(PKG_CFLAGS)

build/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c -o $@ $<

build/fuzz/libmemcgab.a: $(FUZZ_OBJ)
	$(SAY) AR $@
	$(Q)rm -f $@ && $(AR) qcs $@ $^

build/fuzz/%: tests/fuzz/%.c build/fuzz/libmemcgab.a
	$(SAY) FUZZ $@
	$(Q)$(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $@ $< build/fuzz/libmemcgab.a $(PKG_LIBS) -lm

-include $(FUZZ_OBJ:.o=.d)

fuzz: deps-build+check+clang
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) $(FUZZ_BIN)
	$(Q)tests/fuzz/run $(FUZZ_SECONDS) $(FUZZ_BIN)

# A report on a million samples: its memory against the limit, and its time.
$(BUILD)/report-scale: tests/bench/report-scale.c $(LIB)
	@mkdir -p $(@D)
	$(SAY) TEST $@
	$(Q)$(CC) $(ALL_CFLAGS) $(PKG_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(LIB) $(PKG_LIBS) -lm

check-scale: deps-build
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) $(TOOL) $(BUILD)/report-scale
	$(Q)$(BUILD)/report-scale $(TOOL)

bench: deps-build+check
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)tests/bench/run short
	$(Q)tests/bench/phone build/release

bench-full: deps-build+check
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)tests/bench/run full
	$(Q)tests/bench/phone build/release

# Whole kernels: by the user's own command, and from clean, against ours.
check-kernels: deps-build+check
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)tests/e2e/whole-kernels build/release

# Real devices: what goes wrong on a fake phone and on the virtual one; a board behind a shell.
check-faults: deps-build+check
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)tests/phone/faults build/release
	$(Q)tests/e2e/command-shell build/release
	$(Q)tests/e2e/phone build/release
	$(Q)tests/phone/full build/release

# Every workload on 5.10 and 6.12; the first time four kernels are built for it.
check-workloads: deps-build+check
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)tests/e2e/workloads build/release
	$(Q)tests/e2e/events build/release
	$(Q)tests/e2e/payload build/release
	$(Q)tests/e2e/inlined build/release

# Each kernel patch series, measured anew and held against its README; its own tests; SERIES=NAME for one, ONLY=GLOB for some rows.
check-series: deps-build+check
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)tests/series/check build/release $(SERIES) $(if $(ONLY),--only '$(ONLY)')

# Each step of them compiled by itself, with options on and off, for three architectures; TOUCHED=1: the files that it changes alone.
check-builds: deps-build+check+cross
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)tests/series/builds build/release $(if $(TOUCHED),--touched) $(SERIES)

# Their stress tests on kernels with lockdep, KASAN and the like.
check-debug: deps-build+check
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)tests/series/debug build/release $(SERIES)

# The ladder's ends under Debian 13's QEMU, in a folder that debootstrap makes once (root or sudo).
check-trixie: deps-build+check+trixie
	$(Q)$(MAKE) --no-print-directory -j$$(nproc) all
	$(Q)tests/e2e/trixie build/release

check-all: check check-kernels check-workloads check-trixie check-series check-debug check-builds check-faults check-stats check-scale lint fuzz bench

SHARE := $(DESTDIR)$(PREFIX)/share/memcg-ab
LIBEXEC := $(DESTDIR)$(PREFIX)/libexec/memcg-ab

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(LIBEXEC) $(SHARE)/profiles $(SHARE)/schemas $(SHARE)/kconfig-helper
	install -m 755 $(TOOL) $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(AGENT_HOST) $(AGENT_ARM64) $(PLUGIN) $(LIBEXEC)
	install -m 644 profiles/* $(SHARE)/profiles
	install -m 644 schemas/* $(SHARE)/schemas
	install -m 644 share/kconfig-helper/* $(SHARE)/kconfig-helper

help:
	@sed -n '/^make /p' CONTRIBUTING.md

clean:
	rm -rf build

.PHONY: all unit unit-binaries demo check check-all check-kernels check-workloads check-trixie check-faults check-stats check-scale check-series check-debug check-builds format format-check rooms-check lint fuzz bench bench-full install clean help
.SECONDARY:
