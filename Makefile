# The entry points of this repository; `make help` lists them.
SHELL := /bin/bash
PROGRAM := .build/release/entitled

.PHONY: help run demo build install release test test-postgres test-long test-asan test-tsan docs format lint proto screenshots bench attack soak fuzz clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | column -t -s $$'\t'

run: build  ## install what is missing, build, start the service and its sandbox App Store (ARGS="--http ...")
	@exec env ENTITLED_CONSOLE=$(or $(ENTITLED_CONSOLE),127.0.0.1:8070) $(PROGRAM) serve $(ARGS)

demo: build  ## as run, with two years of 2,000 customers in the sandbox and the console (ARGS="--customers 500")
	@tools/demo $(ARGS)

build:  ## install what is missing, build .build/release/entitled
	@tools/bootstrap
	@tools/build --product entitled

install: build  ## install the built program under PREFIX (default /usr/local)
	@tools/install $(or $(PREFIX),/usr/local)

release:  ## make, install and try the files of a release (VERSION=0.1.0 ARGS="--key SECRET.key")
	@tools/bootstrap --test
	@tools/release $(VERSION) --check $(ARGS)

test:  ## install what is missing, lint, build and run every test
	@tools/test

test-postgres:  ## the model of the replicas, and the tests that need PostgreSQL and PgBouncer
	@tools/test-postgres

test-long:  ## the longer suites: released programs, 200 random lives, kills, fuzzing
	@tools/test-long

test-asan:  ## every test again with the address sanitizer, in .build-address
	@tools/test-sanitized address

test-tsan:  ## every test again with the thread sanitizer, in .build-thread
	@tools/test-sanitized thread

docs: build  ## the documentation as a site with search, in .build/docs-site
	@tools/bootstrap --test
	@tools/site/build

format:  ## format the Swift sources
	@tools/swift-files | xargs -0 swift format format --in-place --parallel --configuration .swift-format

lint:  ## check formatting, imports, words, generated code and the contract, without a build
	@tools/bootstrap --test
	@tools/lint

proto:  ## regenerate the message code from proto/
	@tools/bootstrap --test
	@tools/generate

screenshots: build  ## draw the pages of the console into docs/images
	@tools/bootstrap --test
	@.venv/bin/python tools/screenshots

bench: build  ## run all benchmarks with their peers, as one table (ARGS="--quick" or "--ten-million")
	@tools/bootstrap --test
	@tools/bench/all $(ARGS)

attack: build  ## flood the server and measure a well-behaved client (ARGS="--quick --only ping")
	@tools/attack $(ARGS)

soak: build  ## call the server for minutes and watch its memory (ARGS="--minutes 60")
	@tools/soak $(ARGS)

fuzz:  ## fuzz every parser of untrusted bytes (FUZZ_SECONDS=60 for each; 600 before a release)
	@tools/fuzz/run $(ARGS)

clean:  ## remove build products and .venv; keep ./data
	rm -rf .build .build-address .build-fuzz .build-thread .venv
