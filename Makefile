.PHONY: check test soak lint build release

# The quick check of a change: a minute.
check:
	script/check

# All tests, with their own set-up: what decides.
test:
	script/test

# What needs an hour and an idle machine: all, or parts by words of their names, as in
# make soak PARTS="killed disk". `script/soak -l` lists them.
soak:
	script/soak $(PARTS)

lint:
	script/lint

# Static, which starts a quarter faster.
build:
	CGO_ENABLED=0 go build -o timba ./cmd/timba
	CGO_ENABLED=0 go build -o timba-lab ./cmd/timba-lab

# The files of a release, in dist/: archives, Debian packages, checksums and an SBOM.
release:
	script/release
