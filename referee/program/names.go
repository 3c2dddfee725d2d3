package program

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/referee/text"
)

// namer gives each bot of a match a name of its own.
type namer struct {
	programs []Program
	specs    []Spec
	number   bool // number what nothing tells apart, instead of an error
	taken    map[string]bool
}

// nameAll names the programs of a match: as the user named them, else by their own names where
// these differ. Bots with the same name but in different places are called by their directories
// or files, with as much of the path as tells them apart. House bots that play several times
// have numbers: @random, @random#2. So have other bots if number is set; else they are an error,
// which asks for names.
func nameAll(programs []Program, specs []Spec, number bool) error {
	n := namer{programs, specs, number, map[string]bool{}}
	for i, s := range specs {
		if s.Name == "" {
			continue
		}
		if n.taken[s.Name] {
			return fmt.Errorf("two bots have the name %q: give each its own", s.Name)
		}
		n.give(i, s.Name)
	}
	groups := map[string][]int{} // by the bots' own names
	var order []string
	for i, p := range programs {
		if specs[i].Name != "" {
			continue
		}
		if groups[p.Name] == nil {
			order = append(order, p.Name)
		}
		groups[p.Name] = append(groups[p.Name], i)
	}
	for _, alone := range []bool{true, false} { // a name that only one bot has is not given to another
		for _, name := range order {
			group := groups[name]
			if free := len(group) == 1 && !n.taken[name]; alone && free {
				n.give(group[0], name)
				groups[name] = nil
			} else if !alone && group != nil {
				if err := n.tellApart(group); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (n *namer) give(i int, name string) {
	n.programs[i].Name = name
	n.taken[name] = true
}

// tellApart names the bots of a group that have the same name.
func (n *namer) tellApart(group []int) error {
	places := map[string][]int{}
	var order []string
	for _, i := range group {
		place := n.programs[i].place
		if places[place] == nil {
			order = append(order, place)
		}
		places[place] = append(places[place], i)
	}
	names := n.byPlace(n.programs[group[0]].Name, order)
	for k, place := range order {
		copies := places[place]
		first := copies[0]
		if !n.number && !n.programs[first].House && (len(copies) > 1 || n.taken[names[k]]) {
			cmd := n.specs[first].Bot
			if text.Quote(cmd) != cmd {
				cmd = strconv.Quote(cmd)
			}
			name := n.programs[first].Name
			return fmt.Errorf("two bots have the name %q: name them, as in %s", name, text.Quote(fmt.Sprintf("name=%s-1 cmd=%s", name, cmd)))
		}
		for _, i := range copies {
			name := names[k]
			for c := 2; n.taken[name]; c++ {
				name = fmt.Sprintf("%s#%d", names[k], c)
			}
			n.give(i, name)
		}
	}
	return nil
}

// byPlace returns a name for each place: the bots' own name if there is only one, else the ends of
// the paths, as short as they differ.
func (n *namer) byPlace(name string, places []string) []string {
	if len(places) == 1 && (places[0] == "" || !n.taken[name]) {
		return []string{name}
	}
	names := make([]string, len(places))
	for depth := 1; ; depth++ {
		whole := true
		used := map[string]bool{}
		for k, place := range places {
			if names[k] = name; place != "" { // a house bot keeps its name
				parts := strings.Split(strings.Trim(filepath.ToSlash(place), "/"), "/")
				whole = whole && depth >= len(parts)
				names[k] = printable(strings.Join(parts[max(0, len(parts)-depth):], "/"))
			}
			used[names[k]] = true
		}
		if whole || len(used) == len(places) && !slices.ContainsFunc(names, func(name string) bool { return n.taken[name] }) {
			return names
		}
	}
}
