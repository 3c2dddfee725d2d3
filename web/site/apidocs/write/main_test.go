package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/web/site/apidocs"
)

// The committed file is that of the OpenAPI document as it is, and has all that was read.
func TestReferenceIsFresh(t *testing.T) {
	want, err := referenceFile()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../reference.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("openapi.yaml has changed: run go generate ./web/site/apidocs")
	}
	page, err := newReference()
	if err != nil {
		t.Fatal(err)
	}
	read, err := apidocs.Reference()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page, read); diff != "" {
		t.Errorf("the page (-document +file):\n%s", diff)
	}
}
