package run

import (
	"fmt"
	"slices"
	"strings"
)

// Defect is a fault of the thesis's code that a training or a bot can keep.
type Defect struct{ Name, Help string }

// AllDefects is the list that stands for all.
const AllDefects = "all"

// ParseDefects returns the defects of a list of names joined by commas, in the order of the known
// ones: none for "", all for AllDefects.
func ParseDefects(list string, known []Defect) (names []string, err error) {
	var words []string
	for _, d := range known {
		words = append(words, d.Name)
	}
	switch list {
	case "":
		return nil, nil
	case AllDefects:
		return words, nil
	}
	given := strings.Split(list, ",")
	for _, name := range given {
		if !slices.Contains(words, name) {
			return nil, fmt.Errorf("as-published: defect %q does not exist: try %s, or %s", name, strings.Join(words, ", "), AllDefects)
		}
	}
	for _, name := range words {
		if slices.Contains(given, name) {
			names = append(names, name)
		}
	}
	return names, nil
}
