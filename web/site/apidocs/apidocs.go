// Package apidocs has what the page of the API's documentation shows. It is read from the OpenAPI
// document when the code is generated: the library that reads it would make every start of the
// program, also as a bot, 5 ms longer.
package apidocs

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:generate go run github.com/timba-arena/timba/web/site/apidocs/write reference.json

//go:embed reference.json
var reference []byte

// Reference returns the documentation.
func Reference() (*Page, error) {
	var p Page
	if err := json.Unmarshal(reference, &p); err != nil {
		return nil, fmt.Errorf("apidocs: reference.json: %w", err)
	}
	return &p, nil
}

// Page is the data of the page.
type Page struct {
	Intro  string  `json:",omitzero"`
	Bearer string  `json:",omitzero"` // how a request is authorized
	Groups []Group `json:",omitzero"`
	Types  []Type  `json:",omitzero"`
}

// Group are the operations whose first tag is Name.
type Group struct {
	Name       string      `json:",omitzero"`
	Operations []Operation `json:",omitzero"`
}

// Operation is a method of a path.
type Operation struct {
	ID, Method, Path, Summary, Description string   `json:",omitzero"`
	Scope                                  string   `json:",omitzero"` // that a token needs; "" without a token
	Owner, Admin                           bool     `json:",omitzero"` // only for the owner and admins; only for admins
	Parameters                             []Field  `json:",omitzero"`
	Body                                   *Field   `json:",omitzero"` // of the request
	Example                                string   `json:",omitzero"` // a command that sends the request
	Answers                                []Answer `json:",omitzero"`
}

// Field is a parameter, or a member of a document.
type Field struct {
	Name, In, Type, Note string `json:",omitzero"`
	Ref                  string `json:",omitzero"` // the name of its type's schema, if it has one
	Required             bool   `json:",omitzero"`
}

// Answer is what an operation answers with a status.
type Answer struct {
	Status, Description string  `json:",omitzero"`
	Fields              []Field `json:",omitzero"` // one for each media type, or the members of a page
}

// Type is a schema with a name.
type Type struct {
	Name, Type, Description string  `json:",omitzero"`
	Members                 []Field `json:",omitzero"`
}
