# Every target sets up what it needs in .venv first; python3 must be 3.11 or newer (or say PYTHON=python3.12).
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DEMO := .venv-demo
RELEASE := .venv-release
PEERS := .venv-bench
OPENDP := .venv-opendp
TUMULT := .venv-tumult
SMARTNOISE := .venv-smartnoise
ADAPTER = -m pytest -q --noconftest -o addopts=--import-mode=importlib -W ignore tests/interop/test_
SAMPLES := src/nobounds/data
unexport PYTHONDONTWRITEBYTECODE # pytest keeps the tests as it rewrites them, which halves the time to collect them
MINUTES ?= 10
SEED ?= 0

.DEFAULT_GOAL := help
.PHONY: help demo test check quick long explore lint bench accuracy sparse paper mutants planted soak docs figures outputs architecture screens why peers dist sbom

help: ## list the commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 20

demo: $(DEMO)/.ready ## set up, then private summaries, a quantile and a sum of the bundled sample data
	$(DEMO)/bin/nobounds describe $(SAMPLES)/adult.csv.gz --header yes --epsilon 1 --resolution 1 --lower 0
	$(DEMO)/bin/nobounds describe $(SAMPLES)/books.csv.gz --header yes --epsilon 1 --resolution num_pages=1 --lower 0
	$(DEMO)/bin/nobounds quantile $(SAMPLES)/adult.csv.gz --column age --q 0.5 --q 0.99 --epsilon 1 --resolution 1
	$(DEMO)/bin/nobounds sum $(SAMPLES)/books.csv.gz --column num_pages --epsilon 1 --resolution 1

test: lint ## set up, then format, lint, types and every test
	$(BIN)/pytest -n 2 --dist loadgroup

check: lint ## format, lint, types, layers and the fast tests (four minutes)
	$(BIN)/pytest -n 2 --dist loadgroup -m "not slow"

quick: lint ## format, lint, types, layers and the tests that take no 0.2 seconds (a minute)
	$(BIN)/pytest -n 2 --dist loadgroup -m "not slow and not medium" tests

long: $(READY) ## every case of every test, also of the expensive ones that the gate thins (half an hour)
	$(BIN)/pytest -n 2 --dist loadgroup --all-cases

explore: $(READY) ## property tests with fresh examples, kept in .hypothesis if they fail, sampled tests with fresh seeds, and more lockstep runs (20 minutes)
	$(BIN)/pytest -n 2 --dist loadgroup -m "hypothesis or sampled" --hypothesis-profile=explore tests
	cd tests && ../$(BIN)/python -m support.lockstep --slow

bench: $(PEERS)/.ready ## processor time and memory beside named peers, docs/speed.md (ten minutes, and 3 GB of disk)
	$(PEERS)/bin/python benchmarks/speed/ratios.py
	$(PEERS)/bin/python benchmarks/speed/small.py --page docs/speed.md
	$(PEERS)/bin/python benchmarks/speed/groups.py --page docs/speed.md
	$(PEERS)/bin/python benchmarks/speed/csv_files.py --page docs/speed.md
	$(PEERS)/bin/python benchmarks/speed/parquet.py --folder $(or $(TMPDIR),/tmp) --page docs/speed.md

accuracy: $(READY) ## errors, ranges and coverage beside the figures of an earlier version, as a table (five minutes)
	$(BIN)/python benchmarks/gate.py

sparse: $(READY) ## the noise of SparseVector by four analyses, docs/sparse_vector.md
	$(BIN)/python benchmarks/pages/sparse_vector.py

paper: $(READY) ## the paper's figures and tables again, docs/paper/report.md (ten minutes)
	$(BIN)/nobounds paper --out docs/paper

mutants: $(READY) ## small wrong changes by hand, each of which the fast tests must catch, docs/mutants.md (ten minutes)
	$(BIN)/python tests/mutants/run.py

planted: $(READY) ## mechanisms with a mistake, each of which the audit must catch (two minutes)
	$(BIN)/python tests/planted_bugs.py

soak: $(READY) ## the stress test: mixed calls with faults for MINUTES=10 minutes, docs/soak.md
	$(BIN)/python -m stress --minutes $(MINUTES) --seed $(SEED) --out docs/soak.md

docs: $(READY) ## the documentation site, into site/ (offline, and a warning is an error)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

figures: $(READY) ## the pictures of the concept pages and of docs/mechanism.md (a minute)
	$(BIN)/python benchmarks/pages/concepts.py --out docs/concepts
	$(BIN)/python benchmarks/pages/mechanism.py --out docs/mechanism

outputs: $(READY) ## the outputs that pages show, where they are no longer what the commands print (three minutes)
	cd tests && ../$(BIN)/python -m support.outputs

architecture: ## the picture of the rooms from the imports, docs/architecture.svg
	$(PYTHON) tools/pages/architecture.py

why: $(PEERS)/.ready $(TUMULT)/.ready ## a private maximum against the looseness of a guessed bound, docs/why.md (half an hour)
	$(PEERS)/bin/python benchmarks/pages/why.py --tumult $(TUMULT)/bin/python

peers: $(PEERS)/.ready $(OPENDP)/.ready $(TUMULT)/.ready $(SMARTNOISE)/.ready ## docs/coming_from, docs/interop.md and its adapters on the real libraries (fifteen minutes)
	$(PEERS)/bin/python benchmarks/pages/interop.py diffprivlib
	$(PEERS)/bin/python $(ADAPTER)diffprivlib.py
	$(OPENDP)/bin/python benchmarks/pages/interop.py opendp
	$(OPENDP)/bin/python $(ADAPTER)opendp.py
	$(SMARTNOISE)/bin/python benchmarks/pages/interop.py smartnoise
	$(SMARTNOISE)/bin/python $(ADAPTER)smartnoise.py
	$(TUMULT)/bin/python benchmarks/pages/interop.py tumult
	PYSPARK_PYTHON=$(CURDIR)/$(TUMULT)/bin/python $(TUMULT)/bin/python $(ADAPTER)tumult.py
	$(PEERS)/bin/python benchmarks/pages/coming_from.py diffprivlib google
	$(OPENDP)/bin/python benchmarks/pages/coming_from.py opendp
	$(TUMULT)/bin/python benchmarks/pages/coming_from.py tumult

screens: $(READY) ## the pictures of docs/studio.md and docs/answers.md, in Chromium (a minute)
	$(BIN)/python benchmarks/pages/studio.py --out docs/studio
	$(BIN)/python benchmarks/pages/notebook.py --out docs/answers

dist: $(RELEASE)/.ready ## wheel and sdist, built twice and compared, into dist/
	$(RELEASE)/bin/python tools/release/build.py --out dist
	$(RELEASE)/bin/twine check --strict dist/*.whl dist/*.tar.gz
	$(RELEASE)/bin/check-wheel-contents dist/*.whl
	$(RELEASE)/bin/hadolint Containerfile

sbom: dist ## what an environment of nobounds[all] has in it, as CycloneDX, into dist/
	$(PYTHON) -m venv --clear --without-pip build/sbom
	$(RELEASE)/bin/pip --python build/sbom/bin/python install --quiet --disable-pip-version-check "$$(ls dist/*.whl)[all]"
	$(RELEASE)/bin/cyclonedx-py environment --output-reproducible --output-file dist/nobounds-all.cdx.json build/sbom/bin/python

lint: $(READY) ## format, lint, types, words and workflows alone
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/words.py
	$(BIN)/zizmor --offline --quiet --persona pedantic .github

define NEW_ENOUGH
@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "nobounds needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
endef

$(READY): pyproject.toml
	$(NEW_ENOUGH)
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

# What a user installs for the command line and the studio, and none of the tools of developers.
$(DEMO)/.ready: pyproject.toml
	$(NEW_ENOUGH)
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/pip install --quiet --disable-pip-version-check -e '.[studio]'
	@touch $@

$(RELEASE)/.ready: tools/release/requirements.txt
	$(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/pip install --quiet --disable-pip-version-check -r tools/release/requirements.txt
	@touch $@

# The peers want other versions of what nobounds uses, so they have a folder of their own; one that does not install is
# named, and left out.
$(PEERS)/.ready: pyproject.toml benchmarks/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet --disable-pip-version-check -e '.[arrow,cli,fast,plots]'
	@while read -r peer; do \
		$(PEERS)/bin/pip install --quiet --disable-pip-version-check $$peer || echo "does not install here: $$peer"; \
	done < benchmarks/requirements.txt
	@touch $@

# OpenDP for data frames wants one version of polars, SmartNoise an old OpenDP; Tumult an old Spark, and Java.
$(OPENDP)/.ready: pyproject.toml
	$(PYTHON) -m venv $(OPENDP)
	$(OPENDP)/bin/pip install --quiet --disable-pip-version-check -e '.[table]' 'opendp[polars]>=0.14' pytest
	@touch $@

$(TUMULT)/.ready: pyproject.toml
	$(PYTHON) -m venv $(TUMULT)
	$(TUMULT)/bin/pip install --quiet --disable-pip-version-check -e '.[table]' 'tmlt.analytics>=0.20' pytest
	@touch $@

$(SMARTNOISE)/.ready: pyproject.toml
	$(PYTHON) -m venv $(SMARTNOISE)
	$(SMARTNOISE)/bin/pip install --quiet --disable-pip-version-check -e '.[table]' 'smartnoise-sql>=1.0' pytest
	@touch $@
