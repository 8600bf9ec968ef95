# The doors into this repository. Each target says in one line what it does; `make help` lists them.
SHELL := /bin/bash
PROGRAM := .build/release/entitled

.PHONY: help run build install test test-asan format lint proto bench soak fuzz clean
.DEFAULT_GOAL := help

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | column -t -s $$'\t'

run: build  ## install what is missing, build, start the service and its sandbox App Store (ARGS="--http ...")
	@exec $(PROGRAM) serve $(ARGS)

build:  ## install what is missing, build .build/release/entitled
	@tools/bootstrap
	@tools/build --product entitled

install: build  ## put the built program under PREFIX (default /usr/local)
	@tools/install $(or $(PREFIX),/usr/local)

test:  ## install what is missing, lint, build and run every test
	@tools/test

test-asan:  ## every test once more with the address sanitizer, in .build-asan
	@tools/test-asan

format:  ## rewrite the Swift sources in the one layout
	@tools/swift-files | xargs -0 swift format format --in-place --parallel --configuration .swift-format

lint:  ## layout, imports, generated code, the contract: all that needs no build
	@tools/bootstrap --test
	@tools/lint

proto:  ## generate the message code anew from proto/
	@tools/bootstrap --test
	@tools/generate

bench: build  ## all benchmarks and their peers, as one table (ARGS="--quick" or "--ten-million")
	@tools/bootstrap --test
	@tools/bench/all $(ARGS)

soak: build  ## call the server for minutes and watch its memory (ARGS="--minutes 60")
	@tools/soak $(ARGS)

fuzz:  ## feed every parser that meets outside bytes with mutated documents (FUZZ_SECONDS=60 for each)
	@tools/fuzz/run $(ARGS)

clean:  ## remove what was built and installed here; ./data stays
	rm -rf .build .build-asan .venv tools/fuzz/.build
