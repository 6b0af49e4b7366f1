# The front door. `make run` and `make test` are all the set-up there is; `make help` lists the rest.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PREFIX ?= /usr/local
DESTDIR ?=
ARGS ?=
CMD ?=
LAB_OPTIONS ?=
UNIT_OPTIONS ?=

SWIFT ?= swift
# Where the release is made, what starts it here, and what strips it.
BUILT := .build
RELEASE := $(BUILT)/release/tactus
STARTED := $(RELEASE)
STRIP := strip

# ARCH=arm64 on another machine: Packaging/cross compiles for that one, and the executable is started by emulation.
ARCH :=
ifneq ($(ARCH),)
ifneq ($(ARCH),$(shell dpkg --print-architecture))
ifneq ($(ARCH),arm64)
$(error Tactus can be compiled on one machine for another only if that is arm64, not $(ARCH))
endif
CROSS := 1
SWIFT := Packaging/cross
BUILT := .build/arm64
RELEASE := $(BUILT)/build/aarch64-unknown-linux-gnu/release/tactus
STARTED := $(BUILT)/tactus
STRIP := aarch64-linux-gnu-strip
endif
endif

# No debug information: it would be half of the executable, and time to write. Functions keep their names until
# installation, but are not exported, so that the linker leaves out those that nobody calls. No path of this folder gets
# in, nor the compiler's hash of each module, which depends on it, so that the same sources give the same executable
# elsewhere (but for the length of that path: Packaging/reproduce). Package.swift is read anew each time, as what Swift
# keeps of it names the commit of back then.
RELEASE_OPTIONS := -c release --manifest-cache none --static-swift-stdlib -debug-info-format none -Xlinker --no-export-dynamic \
	-Xcc -ffile-prefix-map=$(CURDIR)=. -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
# Manual pages and completion scripts, made by what the built program says of itself.
DOCUMENTS := $(BUILT)/documents
FORMATTED := Sources Tests Package.swift Packaging Benchmarks/Micro/Package.swift Benchmarks/Micro/Benchmarks \
	Benchmarks/Follower/Package.swift Benchmarks/Follower/Sources/bench-follower Benchmarks/Link/Package.swift \
	Benchmarks/Onsets/Package.swift Benchmarks/Onsets/Sources/bench-onsets Benchmarks/Onsets/Sources/listen-trials \
	Benchmarks/Link/Sources/link-trials Benchmarks/Fuzz/Package.swift Benchmarks/Fuzz/Sources/fuzz Examples
# The system's own Python: one that a user installed at home cannot be read by the lab's unprivileged user.
PYTHON ?= /usr/bin/python3
VENV := .venv/.installed
RESULTS := .build/results
# Tests that need sockets or a sequencer; everything else is arithmetic and virtual time.
OUTSIDE := LinkNetworkTests|ALSASequencerTests|ControlServerTests

.PHONY: help run build programs test check lint format unit swift-tests network acceptance plan lab bench
.PHONY: bench-micro pictures mutants scenes soak soak-lab tsan asan bench-follower bench-onsets link-trials listen-trials link-fuzz fuzz
.PHONY: sizes documents machines docs install uninstall deb reproduce dist deb-test arm64-test image image-test source-test clean packages toolchain

help:  ## list the targets
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/\1\t\2/' | expand -t 16

# What the executable is made of; if nothing of it has changed since the last build, `make run` starts at once.
MADE := $(BUILT)/.made
MADE_OF := Sources Profiles Packaging Package.swift Makefile $(wildcard .git/logs/HEAD)

run:  ## install what is missing, build, run the gateway; ARGS='--tempo 100 …' are passed on
	@[ -x $(RELEASE) ] && [ -e $(MADE) ] && [ -z "$$(find $(MADE_OF) -newer $(MADE) -print -quit)" ] || $(MAKE) build
	@echo "Tactus runs until Ctrl-C. Next, in a second terminal: $(RELEASE) status (or play, stop, doctor, --help)" >&2
	@exec $(RELEASE) run $(ARGS)

build: $(if $(CROSS),,toolchain)  ## the release executable
	@Packaging/install-packages $(if $(CROSS),cross,build)
	@mkdir -p $(BUILT) && touch $(MADE).begun
	$(SWIFT) build $(RELEASE_OPTIONS) --product tactus
	@$(MAKE) documents
	@mv $(MADE).begun $(MADE)

# One build for tests and for the programs that they start, in a folder of its own: the release configuration, but tests
# may see what is internal. The program under test is linked again, with Swift's runtime inside as it is installed.
TESTS := .build/tests
TEST_OPTIONS := --scratch-path $(TESTS) -c release -debug-info-format none -Xlinker --no-export-dynamic \
	-Xswiftc -enable-testing -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
programs: swift-tests
	TACTUS_STATIC=1 timeout 1200 $(SWIFT) build $(TEST_OPTIONS) --product tactus

swift-tests: toolchain
	@Packaging/install-packages build
	timeout 2400 $(SWIFT) build --build-tests $(TEST_OPTIONS)

documents:  ## manual pages and completion scripts of the release executable, into .build/documents
	@rm -rf $(DOCUMENTS) && mkdir -p $(DOCUMENTS)
	@Packaging/manual $(STARTED) $(DOCUMENTS)
	@for shell in bash zsh fish; do $(STARTED) --generate-completion-script $$shell >$(DOCUMENTS)/tactus.$$shell; done
	@sed -i '1{/^#!/d}' $(DOCUMENTS)/tactus.bash

machines: build  ## docs/machines.md, from the profiles
	@Packaging/machines $(RELEASE) >docs/machines.md.new
	@mv docs/machines.md.new docs/machines.md

test: packages $(VENV)  ## install what is missing, run every tier: lint, unit, simulation, network, acceptance, lab
	@Tests/tiers $(RESULTS)

check: toolchain  ## lint, unit tests and simulation only
	@Packaging/install-packages build lint
	@$(MAKE) lint
	@$(MAKE) unit

# Texts whose spelling is checked; what is skipped stands in .codespellrc, words of our own in Tests/vocabulary.
SPELLED := .github Sources Tests Examples Benchmarks Packaging Profiles docs README.md CONTRIBUTING.md CHANGELOG.md \
	Makefile Package.swift SECURITY.md .ci/run

lint: toolchain  ## is every Swift file as `make format` would leave it, every word spelled right, every link valid?
	@Packaging/install-packages lint
	Tests/documents
	codespell $(SPELLED)
	$(SWIFT) format lint --strict --recursive $(FORMATTED)

format: toolchain  ## lay out every Swift file
	$(SWIFT) format format --in-place --recursive $(FORMATTED)

unit: toolchain
	timeout 1200 $(SWIFT) test $(TEST_OPTIONS) $(UNIT_OPTIONS) --skip '$(OUTSIDE)'

# Both this tool and the copy that it breaks are built below .build, where nothing of it is checked as a source.
mutants: toolchain  ## break one decision after another, and see whether `make check` notices
	$(SWIFT) run --package-path Tests/Mutants --scratch-path .build/mutants-tool mutants --outside '$(OUTSIDE)' $(ARGS)

scenes: SEEDS ?= 1...10000
scenes: toolchain  ## ten thousand random scenes of whole gateways; SEEDS=7 plays one again; an hour or less
	SIM_SEED=$(SEEDS) timeout 7200 $(SWIFT) test $(TEST_OPTIONS) --filter 'GatewayTests.RandomSceneTests'

soak: SEEDS ?= 1...2
soak: HOURS ?= 24
soak: toolchain  ## whole gateways in virtual time for two days, with faults, a quarter of an hour; SEEDS=7 HOURS=1
	HOURS=$(HOURS) SIM_SEED=$(SEEDS) timeout 14400 $(SWIFT) test $(TEST_OPTIONS) --filter 'GatewayTests.LongSceneTests'

soak-lab: export MINUTES ?= 30
soak-lab: programs $(VENV)  ## 300 BPM for half an hour, while peers, devices and panels come and go, in the lab; MINUTES=10
	@Tests/Lab/lab --prepare
	Tests/in-namespace .venv/bin/python -m pytest Tests/Acceptance/soak.py $(ARGS)

# Few tests at a time, so that one that waits for a socket does not also wait for hundreds that compute.
FEW := --experimental-maximum-parallelization-width 6
TEST_RUN := $(TEST_OPTIONS) $(FEW)

# Building may fetch packages; the tests themselves, real Link sockets among them, see no network but their own.
network: swift-tests
	@mkdir -p $(RESULTS)
	timeout 1200 Tests/in-namespace $(SWIFT) test --skip-build $(TEST_RUN) --xunit-output $(RESULTS)/swift.xml

# Left out: values that know no threads, as Tests/ArchitectureTests shows, and scenes, which play on one thread. Those
# simulations would take half an hour. Leaks of threads are not looked for: some tests end a process with its threads.
VALUES := BeatTimeTests|LinkSessionTests|MIDIClockTests|LoopGuardTests|ArbiterTests|ClockMeterTests|OnsetDetectionTests
VALUES := $(VALUES)|SoundCalibrationTests|TimeCodeTests|SceneTests|FieldCaseTests|CardClockTests|PulsesTests|CardOutputTests
# Faults go to our own handlers, which have tests. Reports go to files, so that one also counts if it comes from a
# process that is meant to crash.
TSAN := .build/tsan
tsan: export TSAN_OPTIONS := handle_segv=0 report_thread_leaks=0 log_path=$(CURDIR)/$(TSAN)/report
tsan: toolchain  ## the Swift tests of everything that has threads, under the thread sanitizer
	@mkdir -p $(TSAN) && rm -f $(TSAN)/report.*
	clang -Wall -Werror -O1 -fPIC -c Tests/sanitized-mutex.c -o $(TSAN)/sanitized-mutex.o
	timeout 2400 $(SWIFT) build --build-tests --sanitize thread --scratch-path $(TSAN) \
		-Xlinker $(CURDIR)/$(TSAN)/sanitized-mutex.o
	timeout 2400 Tests/in-namespace $(SWIFT) test --skip-build --sanitize thread --scratch-path $(TSAN) $(FEW) \
		--skip '$(VALUES)' || failed=1; ! cat $(TSAN)/report.* 2>/dev/null && [ -z "$${failed:-}" ]

# Leaks are not looked for: what lives as long as the program is meant to stay, and `make soak-lab` sees what grows.
ASAN := .build/asan
asan: export ASAN_OPTIONS := handle_segv=0 detect_leaks=0 log_path=$(CURDIR)/$(ASAN)/report
asan: toolchain  ## all Swift tests, under the address sanitizer, and C under that of undefined behaviour
	@mkdir -p $(ASAN) && rm -f $(ASAN)/report.*
	timeout 3600 $(SWIFT) build --build-tests -c release -Xswiftc -enable-testing --sanitize address \
		-Xcc -fsanitize=undefined --scratch-path $(ASAN)
	timeout 3600 Tests/in-namespace $(SWIFT) test --skip-build -c release -Xswiftc -enable-testing --sanitize address \
		-Xcc -fsanitize=undefined --scratch-path $(ASAN) $(FEW) || failed=1; ! cat $(ASAN)/report.* 2>/dev/null && [ -z "$${failed:-}" ]

acceptance: programs $(VENV)
	@mkdir -p $(RESULTS)
	@Tests/Lab/lab --prepare
	timeout --kill-after 60 4500 Tests/acceptance $(RESULTS) $(ARGS)

pictures: programs $(VENV)  ## the panel's pictures in docs/pictures, both views in all sizes
	Tests/in-namespace .venv/bin/python Tests/Acceptance/pictures.py docs/pictures

plan: programs $(VENV)  ## the cases asked of every Link program, against unmodified ones; prints the table of verdicts
	Tests/in-namespace .venv/bin/python -m pytest Tests/Acceptance -m case $(ARGS)

lab: export LAB_COMMAND = $(value CMD)
lab: packages  ## one command in a kernel that has the sequencer: CMD='…', LAB_OPTIONS='--ppm 500' (Tests/Lab/lab --help)
	@Tests/Lab/lab $(LAB_OPTIONS) -- sh -c "$$LAB_COMMAND"

# Benches measure what is installed, not what the tests run.
bench sizes: export TACTUS := $(CURDIR)/$(RELEASE)
# Nice, so that a machine in use stays usable; the lab counts instructions and does not mind.
bench: build $(VENV)  ## how steady the clock is on twelve machines, in the lab; half an hour; writes Benchmarks/timing.md
	@Tests/Lab/lab --prepare
	nice -n 5 .venv/bin/python Benchmarks/timing/bench.py $(ARGS)

# The benchmark library's own tables; it is fetched and built for this target only.
bench-micro: toolchain  ## what one step of each engine costs, in nanoseconds on this machine
	cd Benchmarks/Micro && $(SWIFT) package benchmark --no-progress

# A package of its own, so that a build of the gateway never sees it; only our values are compiled into it.
bench-follower: toolchain  ## the clock follower beside the published methods: Benchmarks/follower.md
	$(SWIFT) run -c release --package-path Benchmarks/Follower bench-follower Benchmarks/follower.md

bench-onsets: toolchain  ## where sounds begin in a recording, beside a plain threshold: Benchmarks/onsets.md
	$(SWIFT) run -c release --package-path Benchmarks/Onsets bench-onsets Benchmarks/onsets.md

# Warnings are errors here too: a name that no longer exists is one.
docs: export DOCS = .build/docs
docs: toolchain  ## the libraries' documentation, into .build/docs: Link.doccarchive and MIDIClock.doccarchive
	for target in LinkNetwork MIDIClock; do \
		$(SWIFT) build --scratch-path $$DOCS --target $$target -Xswiftc -emit-symbol-graph \
			-Xswiftc -emit-symbol-graph-dir -Xswiftc $$DOCS; \
	done
	mkdir -p $$DOCS/modules
	for module in LinkNetwork LinkSession BeatTime RealTime MIDIClock; do \
		rm -rf $$DOCS/symbols && mkdir $$DOCS/symbols && cp $$DOCS/$$module.symbols.json $$DOCS/symbols; \
		catalog=Sources/$$module/$$module.docc; [ -d $$catalog ] || catalog=; \
		docc convert $$catalog --additional-symbol-graph-dir $$DOCS/symbols --fallback-display-name $$module \
			--fallback-bundle-identifier tactus.$$module --warnings-as-errors \
			--output-path $$DOCS/modules/$$module.doccarchive; \
	done
	merge() { \
		rm -rf $$DOCS/$$1.doccarchive; \
		docc merge $$(printf "$$DOCS/modules/%s.doccarchive " "$${@:2}") --synthesized-landing-page-name $$1 \
			--synthesized-landing-page-kind Package --output-path $$DOCS/$$1.doccarchive; \
	}; merge Link LinkNetwork LinkSession BeatTime RealTime; merge MIDIClock MIDIClock BeatTime

# The engine in virtual time, at a length that no run of the tests has.
link-trials: toolchain  ## a hundred Link peers, a day of two with bad crystals, a thousand random sessions
	$(SWIFT) run -c release --package-path Benchmarks/Link link-trials crowd
	$(SWIFT) run -c release --package-path Benchmarks/Link link-trials day
	SIM_SEED=1...1000 $(SWIFT) test --filter 'LinkSessionTests.NetworkScenarioTests/.five'

# Half an hour of one core in all; shared among those there are.
TRIALS := Benchmarks/Onsets/.build/release/listen-trials
listen-trials: toolchain  ## a hundred hours of noise, speech and music, from which no calibration must come
	$(SWIFT) build -c release --package-path Benchmarks/Onsets --product listen-trials
	seq 1 20 | timeout 7200 xargs -P $$(nproc) -I{} $(TRIALS) 5 {} {}

# RUNS=100000 for a short look. What it finds is kept: `Benchmarks/Fuzz/corpus pack` makes test inputs of it.
link-fuzz: RUNS ?= 10000000
link-fuzz: fuzz-link  ## ten million datagrams and deeds that the compiler's fuzzer thinks up, against the Link engine
fuzz: RUNS ?= 1000000
fuzz: fuzz-osc fuzz-profile fuzz-configuration  ## a million packets or files each, against the readers of OSC and YAML

FUZZ := Benchmarks/Fuzz
fuzz-%: toolchain
	$(SWIFT) build -c release --package-path $(FUZZ)
	$(PYTHON) $(FUZZ)/corpus unpack Tests/HostileInputTests/Corpus/$*.txt $(FUZZ)/.build/$*
	$(FUZZ)/.build/release/fuzz $* -runs=$(RUNS) -max_len=2048 -rss_limit_mb=512 -artifact_prefix=$(FUZZ)/.build/ $(FUZZ)/.build/$*

# CLEAN=1 builds a clean clone, too, which needs the network for packages.
sizes: build  ## lines, executable, memory and time of a command on this machine; CLEAN=1: and time of a clean build
	@$(if $(CLEAN),$(PYTHON) Benchmarks/sizes.py --build)
	@Tests/in-namespace $(PYTHON) Benchmarks/sizes.py

# Where Debian's shells look, below /usr and below /usr/local.
ZSH_COMPLETIONS := $(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)
SHARE := $(DESTDIR)$(PREFIX)/share
LIB := $(DESTDIR)$(PREFIX)/lib

install:  ## copy executable, manual, completions, units and examples under PREFIX (and DESTDIR)
	@test -x $(RELEASE) -a -d $(DOCUMENTS) || $(MAKE) build
	install -D -s --strip-program=$(STRIP) -m 755 $(RELEASE) '$(DESTDIR)$(PREFIX)/bin/tactus'
	install -d '$(SHARE)'/man/man{1,5} '$(LIB)'/systemd/{system,user}
	install -m 644 $(DOCUMENTS)/man1/*.1 '$(SHARE)/man/man1'
	install -m 644 $(DOCUMENTS)/man5/*.5 '$(SHARE)/man/man5'
	install -D -m 644 $(DOCUMENTS)/tactus.bash '$(SHARE)/bash-completion/completions/tactus'
	install -D -m 644 $(DOCUMENTS)/tactus.zsh '$(SHARE)/zsh/$(ZSH_COMPLETIONS)/_tactus'
	install -D -m 644 $(DOCUMENTS)/tactus.fish '$(SHARE)/fish/vendor_completions.d/tactus.fish'
	sed 's|@PREFIX@|$(PREFIX)|' Packaging/tactus.service >'$(LIB)/systemd/system/tactus.service'
	sed 's|@PREFIX@|$(PREFIX)|' Packaging/tactus.user.service >'$(LIB)/systemd/user/tactus.service'
	install -D -m 644 Packaging/tactus.sysusers '$(LIB)/sysusers.d/tactus.conf'
	install -D -m 644 Packaging/config.example.yaml '$(SHARE)/doc/tactus/examples/config.yaml'
	install -m 644 Profiles/korg-volca.yaml '$(SHARE)/doc/tactus/examples/korg-volca.yaml'

uninstall:  ## remove what `make install` copied; configuration and saved state stay
	rm -f '$(DESTDIR)$(PREFIX)/bin/tactus' '$(SHARE)'/man/man1/tactus{,-*}.1 '$(SHARE)'/man/man5/tactus-{config,profile}.5 \
		'$(SHARE)/bash-completion/completions/tactus' '$(SHARE)/zsh/$(ZSH_COMPLETIONS)/_tactus' \
		'$(SHARE)/fish/vendor_completions.d/tactus.fish' '$(LIB)'/systemd/{system,user}/tactus.service \
		'$(LIB)/sysusers.d/tactus.conf'
	rm -rf '$(SHARE)/doc/tactus'

deb: build  ## a Debian package, into .build/packages; with ARCH=arm64 on another machine into .build/arm64/packages
	@Packaging/install-packages deb
	@rm -f $(BUILT)/packages/*.deb
	ARCH=$(ARCH) Packaging/deb $(BUILT)/packages
	@ls $(BUILT)/packages/*.deb

# What is here may have been compiled bit by bit; the clone is compiled at once, and elsewhere.
reproduce: toolchain  ## build the package here and from a clone in another folder: are both equal, byte for byte?
	@Packaging/reproduce

dist: build  ## a tarball to unpack below /usr/local, with its checksum, into .build/packages
	@rm -f $(BUILT)/packages/*.tar.xz*
	@ARCH=$(ARCH) Packaging/tarball $(BUILT)/packages
	@ls $(BUILT)/packages/*.tar.xz

deb-test: $(VENV)  ## the package in clean Debian 12 and 13, from its building to its purge, an hour; as root
	@Packaging/install-packages deb-test
	@Tests/Lab/lab --prepare
	.venv/bin/python -m pytest -s Tests/Packages/test_clean_roots.py $(ARGS)

# Emulated, so slow. The first time, the board's system is made.
arm64-test: $(VENV)  ## the package for arm64 on an emulated board: installed, its service, a clock, Link; as root
	@$(MAKE) deb ARCH=arm64
	@Packaging/install-packages arm64-test
	@$(PYTHON) Tests/Packages/board.py
	Tests/in-namespace .venv/bin/python -m pytest -s Tests/Packages/test_arm64.py $(ARGS)

image:  ## a card for a Raspberry Pi that needs no login, into .build/arm64/image; as root
	@$(MAKE) deb ARCH=arm64
	@Packaging/install-packages image
	@Packaging/image .build/arm64/packages/tactus_*_arm64.deb .build/arm64/image

image-test: $(VENV)  ## that card on an emulated board: secrets, panel, access point, power cuts; as root
	@Packaging/install-packages arm64-test image
	Tests/in-namespace .venv/bin/python -m pytest -s Tests/Packages/test_image.py $(ARGS)

source-test: $(VENV)  ## the commit in a clean Debian 12, built and installed as README says, timed; as root
	@Packaging/install-packages deb-test
	@Tests/Lab/lab --prepare
	.venv/bin/python -m pytest -s Tests/Packages/test_from_source.py $(ARGS)

clean:  ## remove everything made here
	rm -rf .build .lab .venv

packages: toolchain
	@Packaging/install-packages build lint test

toolchain:
	@command -v $(SWIFT) >/dev/null || { echo "tactus: Swift 6.3 or later is needed: https://swift.org/install" >&2; exit 1; }
	@said=$$($(SWIFT) --version 2>&1) || { echo "$$said" >&2; echo "tactus: Swift does not start; install the packages that" \
		"https://swift.org/install lists for your system, such as libncurses6" >&2; exit 1; }

$(VENV): Tests/Acceptance/requirements.txt
	@Packaging/install-packages test
	$(PYTHON) -m venv --clear .venv
	.venv/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@
