package store

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/secure/precis"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/sample-bots/house"
)

// maxPersonName is the greatest length of the name of a person, in characters.
const maxPersonName = 32

var personNameForm = regexp.MustCompile(`^[\pL\pM\pN]+([-_.][\pL\pM\pN]+)*$`)

// personName returns a person's name in the form for pages, and its handle, which is the same for all names that
// differ only in case or width. It returns an error if the name is not valid. A name has at most maxPersonName
// characters: letters and digits, perhaps with single hyphens, underscores or dots between them. It cannot mix Latin
// letters with others.
func personName(name string) (shown, handle string, err error) {
	refused := ladder.Errorf(ladder.Invalid, "try letters of one alphabet and digits with single - _ . between them, at most 32 characters", "the name of a person cannot be %q", ladder.Clip(name))
	if len(name) > utf8.UTFMax*maxPersonName {
		return "", "", refused
	}
	if shown, err = precis.UsernameCasePreserved.String(name); err != nil || utf8.RuneCountInString(shown) > maxPersonName || !personNameForm.MatchString(shown) {
		return "", "", refused
	}
	// "аda" with a Cyrillic а would look like "ada".
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, shown)
	isLatin := func(r rune) bool { return unicode.Is(unicode.Latin, r) }
	if rest := strings.Map(func(r rune) rune {
		if isLatin(r) {
			return -1
		}
		return r
	}, letters); rest != "" && rest != letters {
		return "", "", refused
	}
	if handle, err = precis.UsernameCaseMapped.String(shown); err != nil {
		return "", "", refused
	}
	return shown, handle, nil
}

// RemovedName returns the name that a person gets when removed: "anon-" and the ID, in all languages of the site.
func RemovedName(id int64) string { return removedPrefix + strconv.FormatInt(id, 10) }

const removedPrefix = "anon-"

// isReserved reports whether no new person and no new bot may have a name. handle is a bot's name, or a person's handle
// (see personName).
func isReserved(handle string) bool {
	return strings.HasPrefix(handle, removedPrefix) || slices.Contains(ReservedNames(), handle)
}

// ReservedNames returns the names that nobody can choose for a person or a bot any more. Pages use most of them for
// house bots and guests. People would take somebody called "admin" for the operator.
var ReservedNames = sync.OnceValue(func() []string {
	names := []string{"admin", ladder.GuestName}
	for _, b := range house.Bots() {
		names = append(names, b.Name)
	}
	for _, l := range house.Levels() {
		names = append(names, l.Name)
	}
	return names
})
