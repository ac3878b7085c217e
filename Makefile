# GNU make. Left out of the built package. What is made here goes to _build/,
# demo-output/ and site/; the package is installed into _build/library, never into the
# user's own library.

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help install demo test trust check bench docs site clean

# Greek letters print in a container without a locale, too.
ifeq ($(LC_ALL)$(LC_CTYPE)$(LANG),)
ifneq ($(filter C.utf8 C.UTF-8,$(shell locale -a 2>/dev/null)),)
export LANG := C.UTF-8
endif
endif

# Paths stay relative: the folder may have spaces in its name.
SETUP := sh tools/setup.sh
INSTALLED := _build/installed
CORES := $(or $(shell getconf _NPROCESSORS_ONLN 2>/dev/null),1)
WITH_PACKAGE := R_LIBS="$(CURDIR)/_build/library$${R_LIBS:+:$$R_LIBS}"

# Folders count as sources, so that a file taken away is noticed as well.
SOURCES := DESCRIPTION .Rbuildignore $(wildcard NAMESPACE) \
  $(shell find R src inst man data vignettes ! -name '*.o' ! -name '*.so' 2>/dev/null)

help:
	@echo "make demo    installs the package into _build/ and runs its demonstration; pictures go to demo-output/."
	@echo "make test    installs the package into _build/ and runs its tests; make test FILTER=plan-read runs test-plan-read.R alone."
	@echo "make trust   runs the slow tests in tests/slow/, hours, and prints what they promise; make trust TRUST=kill runs kill.R alone."
	@echo "make check   builds the package and checks it as CRAN does; anything found but a new submission fails."
	@echo "make bench   runs the benchmarks in inst/bench/; make bench BENCH=forward runs forward.R alone."
	@echo "make docs    writes man/ and NAMESPACE from the comments in R/."
	@echo "make site    builds the site into site/, follows its links and prints the words per sentence of each page."
	@echo "make clean   removes _build/, demo-output/, site/ and compiled files."
	@echo "On Debian and Ubuntu each of them first installs what is missing (tools/setup.sh)."

# Installed from a built tarball: what is tested is what would be shipped, and
# src/ stays free of object files.
$(INSTALLED): $(SOURCES)
	@echo "Installing the package into _build/library"
	@mkdir -p _build/library
	@rm -f _build/*.tar.gz
	@cd _build && { R CMD build --no-build-vignettes --no-manual .. && \
	  R CMD INSTALL --library=library ./*.tar.gz; } >install.log 2>&1 || \
	  { cat install.log; exit 1; }
	@touch $@

install: $(INSTALLED)
	@:

demo:
	@$(SETUP) demo
	@$(MAKE) --no-print-directory install
	@mkdir -p demo-output
	@$(WITH_PACKAGE) Rscript inst/examples/demo.R demo-output

test:
	@$(SETUP) test
	@$(MAKE) --no-print-directory install
	@$(WITH_PACKAGE) IBRC_TEST_JOBS=$(CORES) Rscript tools/test.R tests/testthat "$(FILTER)"

# What the package promises, each with its figure; what a script printed stays in
# tests/slow/kept/.
trust:
	@$(SETUP) trust
	@$(MAKE) --no-print-directory install
	@$(WITH_PACKAGE) Rscript tools/trust.R $(TRUST)

check:
	@$(SETUP) check
	@sh tools/check.sh

bench:
	@$(SETUP) bench
	@$(MAKE) --no-print-directory install
	@for script in inst/bench/$(or $(BENCH),*).R; do \
	  echo "$$script"; \
	  $(WITH_PACKAGE) Rscript "$$script" || exit 1; \
	done

docs:
	@$(SETUP) docs
	@Rscript tools/document.R

site:
	@$(SETUP) site
	@$(MAKE) --no-print-directory install
	@$(WITH_PACKAGE) Rscript tools/site.R
	@Rscript tools/links.R site

clean:
	rm -rf _build demo-output site
	rm -f src/*.o src/*.so src/*.dll
