package site

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nicksnyder/go-i18n/v2/i18n"

	"github.com/timba-arena/timba/internal/kit"
)

var (
	placeholder = regexp.MustCompile(`{{\s*\.(\w+)\s*}}`)
	keyInPage   = regexp.MustCompile(`\bt "([^"]+)"`)
	prefixes    = regexp.MustCompile(`\bt \(print "([^"]+)"`)
	keyInGo     = regexp.MustCompile(`"([a-z]+(?:\.[a-z-]+)+)"`)
)

// texts returns the forms of all messages by language and key.
func texts(t *testing.T) map[string]map[string]*i18n.Message {
	_, files, err := Messages()
	kit.Must(t, err)
	all := map[string]map[string]*i18n.Message{}
	for _, f := range files {
		tag := f.Tag.String()
		if all[tag] == nil {
			all[tag] = map[string]*i18n.Message{}
		}
		for _, m := range f.Messages {
			if all[tag][m.ID] != nil {
				t.Errorf("%s: %q is there twice", f.Path, m.ID)
			}
			all[tag][m.ID] = m
			page, _, _ := strings.Cut(filepath.Base(f.Path), ".")
			if head, _, _ := strings.Cut(m.ID, "."); head != page && !(page == "site" && (head == "problem" || head == "signin")) {
				t.Errorf("%s: %q belongs into another file", f.Path, m.ID)
			}
		}
	}
	return all
}

func placeholders(m *i18n.Message) []string {
	names := map[string]bool{}
	for _, match := range placeholder.FindAllStringSubmatch(m.One+m.Other, -1) {
		names[match[1]] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// Every language has every message, with the same placeholders and plurals.
func TestMessagesComplete(t *testing.T) {
	all := texts(t)
	if got := slices.Sorted(maps.Keys(all)); !slices.Equal(got, slices.Sorted(slices.Values(Languages))) {
		t.Fatalf("there are messages in %q", got)
	}
	for _, tag := range Languages {
		if diff := cmp.Diff(slices.Sorted(maps.Keys(all["en"])), slices.Sorted(maps.Keys(all[tag]))); diff != "" {
			t.Errorf("%s differs from en (-en +%s): %s", tag, tag, diff)
		}
		for key, m := range all[tag] {
			en := all["en"][key]
			if en == nil {
				continue
			}
			if m.Other == "" || (m.One == "") != (en.One == "") {
				t.Errorf("%s: %q lacks a form", tag, key)
			}
			if diff := cmp.Diff(placeholders(en), placeholders(m)); diff != "" {
				t.Errorf("%s: %q has other placeholders: %s", tag, key, diff)
			}
		}
	}
}

// Every message is used, and every one that is used exists.
func TestMessagesUsed(t *testing.T) {
	known := texts(t)["en"]
	used, begins := map[string]bool{}, []string{}
	kit.Must(t, fs.WalkDir(pageFiles, "pages", func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".html" {
			return err
		}
		text, err := fs.ReadFile(pageFiles, name)
		for _, m := range keyInPage.FindAllStringSubmatch(string(text), -1) {
			used[m[1]] = true
		}
		for _, m := range prefixes.FindAllStringSubmatch(string(text), -1) {
			begins = append(begins, m[1])
		}
		return err
	}))
	for key := range used {
		if known[key] == nil {
			t.Errorf("%q is used and does not exist", key)
		}
	}
	files := kit.Get[[]string](t)(filepath.Glob("*.go"))
	for _, f := range files {
		text := kit.Get[[]byte](t)(os.ReadFile(f))
		for _, m := range keyInGo.FindAllStringSubmatch(string(text), -1) {
			used[m[1]] = true
		}
	}
	for key := range known {
		built := slices.ContainsFunc(begins, func(head string) bool { return strings.HasPrefix(key, head) })
		if !used[key] && !built && !strings.Contains(key, ".js.") && !strings.Contains(key, ".column.") {
			t.Errorf("%q is used nowhere", key)
		}
	}
	if len(used) < 30 || len(known) < 30 {
		t.Errorf("only %d of %d messages are seen", len(used), len(known))
	}
}
