package api

import (
	_ "embed"
	"net/http"
)

// Document is the OpenAPI 3.1 document of the API, as JSON. It is made of openapi.yaml, and is the
// contract: the tests check every route and every response against it.
//
//go:embed openapi.json
var Document []byte

func (a *api) document(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(Document)
	return err
}
