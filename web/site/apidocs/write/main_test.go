package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/site/apidocs"
)

// The committed file is that of the OpenAPI document as it is, and has all that was read.
func TestReferenceIsFresh(t *testing.T) {
	want := kit.Get[[]byte](t)(referenceFile())
	got := kit.Get[[]byte](t)(os.ReadFile("../reference.json"))
	if string(got) != string(want) {
		t.Error("openapi.yaml has changed: run go generate ./web/site/apidocs")
	}
	page := kit.Get[*apidocs.Page](t)(newReference())
	read := kit.Get[*apidocs.Page](t)(apidocs.Reference())
	if diff := cmp.Diff(page, read); diff != "" {
		t.Errorf("the page (-document +file):\n%s", diff)
	}
}
