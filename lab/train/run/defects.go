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

// Kept returns the defects that are given, in the order of the known ones: all for AllDefects.
func Kept(given []string, known []Defect) (names []string, err error) {
	var words []string
	for _, d := range known {
		words = append(words, d.Name)
	}
	if len(given) == 1 && given[0] == AllDefects {
		return words, nil
	}
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
