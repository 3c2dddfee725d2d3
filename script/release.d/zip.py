"""Packs the files whose paths are read from stdin into a zip: python3 zip.py ARCHIVE. Their times stay."""
import sys
import zipfile

with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
    for path in sys.stdin.read().splitlines():
        archive.write(path)
