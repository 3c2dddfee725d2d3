package program

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/timba-arena/timba/rules/text"
)

// namer assigns a unique name to each bot of a match.
type namer struct {
	programs  []Program
	specs     []BotSpec
	number    bool // give numbers to bots that are otherwise alike, instead of returning an error
	usedNames map[string]bool
}

// nameAll sets the names of the programs of a match. specs has the bots as the user wrote them, in the same order. A
// bot gets the name that the user gave, otherwise its own name. Bots with the same name but different paths are named
// by the ends of their paths. If a house bot (part of timba) plays several times, its copies get numbers: @random,
// @random#2. If another bot plays several times, its copies get numbers only if number is true; otherwise nameAll
// returns an error that asks for names.
func nameAll(programs []Program, specs []BotSpec, number bool) error {
	n := namer{programs, specs, number, map[string]bool{}}
	for i, s := range specs {
		if s.Name == "" {
			continue
		}
		if n.usedNames[s.Name] {
			return fmt.Errorf("two bots have the name %q: give each its own", s.Name)
		}
		n.assignName(i, s.Name)
	}
	var unnamed []int
	for i, s := range specs {
		if s.Name == "" {
			unnamed = append(unnamed, i)
		}
	}
	var alike [][]int
	for _, group := range groupBots(unnamed, func(i int) string { return programs[i].Name }) {
		if name := programs[group[0]].Name; len(group) == 1 && !n.usedNames[name] {
			n.assignName(group[0], name) // no other bot has this name
		} else {
			alike = append(alike, group)
		}
	}
	for _, group := range alike {
		if err := n.tellApart(group); err != nil {
			return err
		}
	}
	return nil
}

func groupBots(bots []int, key func(i int) string) (groups [][]int) {
	at := map[string]int{}
	for _, i := range bots {
		g, known := at[key(i)]
		if !known {
			g = len(groups)
			at[key(i)], groups = g, append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

func (n *namer) assignName(i int, name string) {
	n.programs[i].Name = name
	n.usedNames[name] = true
}

// tellApart assigns different names to bots that have the same name. group has their indices.
func (n *namer) tellApart(group []int) error {
	places := groupBots(group, func(i int) string { return n.programs[i].place })
	names := n.byPlace(n.programs[group[0]].Name, places)
	for k, copies := range places {
		first := copies[0]
		if !n.number && !n.programs[first].House && (len(copies) > 1 || n.usedNames[names[k]]) {
			cmd := n.specs[first].Bot
			if text.Quote(cmd) != cmd {
				cmd = strconv.Quote(cmd)
			}
			name := n.programs[first].Name
			return fmt.Errorf("two bots have the name %q: name them, as in %s", name, text.Quote(fmt.Sprintf("name=%s-1 cmd=%s", name, cmd)))
		}
		for _, i := range copies {
			name := names[k]
			for c := 2; n.usedNames[name]; c++ {
				name = fmt.Sprintf("%s#%d", names[k], c)
			}
			n.assignName(i, name)
		}
	}
	return nil
}

// byPlace returns a name for each group of bots in places. All bots of a group come from the same directory or file.
// If there is only one group and name is not used yet, byPlace returns name. Otherwise the names are ends of the
// paths, just long enough to be different.
func (n *namer) byPlace(name string, places [][]int) []string {
	if len(places) == 1 && (n.programs[places[0][0]].place == "" || !n.usedNames[name]) {
		return []string{name}
	}
	names := make([]string, len(places))
	for depth := 1; ; depth++ {
		whole := true
		used := map[string]bool{}
		for k, bots := range places {
			place := n.programs[bots[0]].place
			if names[k] = name; place != "" { // a house bot has no place
				parts := strings.Split(strings.Trim(filepath.ToSlash(place), "/"), "/")
				whole = whole && depth >= len(parts)
				names[k] = printable(strings.Join(parts[max(0, len(parts)-depth):], "/"))
			}
			used[names[k]] = true
		}
		if whole || len(used) == len(places) && !slices.ContainsFunc(names, func(name string) bool { return n.usedNames[name] }) {
			return names
		}
	}
}
