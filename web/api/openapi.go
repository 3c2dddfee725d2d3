package api

import (
	_ "embed"
	"net/http"
	"sync"

	"github.com/goccy/go-yaml"
)

//go:embed openapi.yaml
var documentYAML []byte

// Document is the OpenAPI 3.1 document of the API, as JSON. It is the contract:
// the tests check every route and every response against it.
var Document = sync.OnceValue(func() []byte {
	data, err := yaml.YAMLToJSON(documentYAML)
	if err != nil {
		panic("api: openapi.yaml: " + err.Error()) // a test covers it
	}
	return data
})

func (a *api) document(w http.ResponseWriter, r *http.Request) error {
	if err := NewQuery(r).Done(); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(Document())
	return err
}
