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

build:
	script/build

# The files of a release, in dist/: archives, Debian packages, checksums and an SBOM.
release:
	script/release
