# Gatehouse. Every target works from a clean clone, and twice in a row.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help run test bench chaos tamper mutants demo check fmt power-check observe-check collector-check mastra-check claude-check package-check sbom up down clean

INSTALLED := node_modules/.installed
BUILT := node_modules/.built
SOURCES := $(shell find client server -type f -not -path '*/dist/*' -not -path '*/node_modules/*' -not -name '*.md')

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(INSTALLED): package.json package-lock.json client/package.json
	@echo 'Installing packages …'
	@npm ci --loglevel=error --no-audit --no-fund
	@touch $@

$(BUILT): $(INSTALLED) $(SOURCES)
	@echo 'Building …'
	@npm run --silent build
	@touch $@

run: $(BUILT) ## Build and start the service on http://localhost:8000 with demo data
	@exec env GATE_DEMO=1 npm start --silent

test: $(BUILT) ## Build and run every test
	@npm run --silent test:needs
	@npm run --silent test

bench: $(BUILT) ## Measure the service next to its bounds and its rivals
	@npm run --silent bench -- $(ARGS)

chaos: $(BUILT) ## Kill services and store under load and count records (ARGS="--cycles 100")
	@npm run --silent chaos -- $(ARGS)

tamper: $(BUILT) ## Attack store and log with both verifiers (ARGS="--records 4200" or more)
	@npm run --silent tamper -- $(ARGS)

mutants: $(INSTALLED) ## Break the pure code in small ways and count what no test notices
	@npm run --silent mutants

demo: $(INSTALLED) ## Fill a store with a realistic fleet (ARGS="--rows 1000000 --days 30")
	@npm run --silent demo -- $(ARGS)

check: $(INSTALLED) ## Check formatting, types and lint rules
	@npm run --silent check

fmt: $(INSTALLED) ## Format everything
	@npm run --silent format

power-check: $(BUILT) ## Cut the power of a disk under load, as root, and count records
	@npm run --silent power:check -- $(ARGS)

observe-check: $(BUILT) ## Let a real Prometheus evaluate the alerts and answer every panel
	@npm run --silent observe:check

collector-check: $(BUILT) ## Let a real syslog-ng send files of events while it and the service are killed
	@npm run --silent collector:check

mastra-check: $(BUILT) ## Run the contract of the adapters against Mastra, which it installs
	@npm run --silent mastra:check

claude-check: $(BUILT) ## The same against the Claude Agent SDK with Claude Code and a mock model
	@npm run --silent claude:check

package-check: $(BUILT) ## Test the packed client: with ai 5 and 6, its types, and in Jest
	@npm run --silent package:check

sbom: ## Write what the service depends on to sbom.cdx.json (CycloneDX)
	@npm sbom --sbom-format cyclonedx --sbom-type application --package-lock-only --omit dev > sbom.cdx.json
	@echo 'Wrote sbom.cdx.json'

up: ## Start ClickHouse, Gatehouse, Prometheus, Grafana and Mailpit with Docker
	docker compose up --build --detach

down: ## Stop the stack
	docker compose down

clean: ## Remove what was built and installed; the data stay
	rm -rf node_modules client/dist server/dashboard/dist server/policy/runtime/dist
