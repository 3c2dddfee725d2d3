.PHONY: test lint build

# All tests, with their own set-up.
test:
	script/test

lint:
	script/lint

build:
	go build -o timba ./cmd/timba
