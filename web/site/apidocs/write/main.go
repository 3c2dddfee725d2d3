// Write writes the documentation of the API, read from the OpenAPI document, for go generate:
//
//	//go:generate go run github.com/timba-arena/timba/web/site/apidocs/write reference.json
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	data, err := referenceFile()
	if err == nil {
		err = os.WriteFile(os.Args[1], data, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// referenceFile returns the file that package apidocs reads.
func referenceFile() ([]byte, error) {
	page, err := newReference()
	if err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(page, "", " ")
	return append(data, '\n'), err
}
