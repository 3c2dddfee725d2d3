GO ?= go

.PHONY: test lint build

test: lint
	$(GO) test -race -timeout 15m ./...

lint:
	@test -z "$$(gofmt -l .)" || { echo 'gofmt would change:'; gofmt -l .; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

build:
	$(GO) build -o timba ./cmd/timba
