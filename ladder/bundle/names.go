package bundle

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// A name is to mean the same file on every system that authors have, so it has to
// be possible on Linux, macOS and Windows.

// reserved are the names of devices on Windows, whatever their extension.
var reserved = []string{
	"con", "prn", "aux", "nul", "conin$", "conout$",
	"com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "com¹", "com²", "com³",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "lpt¹", "lpt²", "lpt³",
}

// What is never part of a bot: folders that version control and Python keep, and
// what desktops leave behind. The folders that a bot's hash passes over have to
// be among them, or there would be files that it says nothing of.
var (
	junkFolders = []string{".git", ".hg", ".svn", ".bzr", "_darcs", "CVS", "__pycache__", "__MACOSX"}
	junkFiles   = []string{".DS_Store", "Thumbs.db", "desktop.ini"}
)

// junk tells whether a path leads into what is never part of a bot.
func junk(p string, dir bool) bool {
	names := strings.Split(p, "/")
	last := len(names) - 1
	for i, name := range names {
		if (i < last || dir) && slices.Contains(junkFolders, name) {
			return true
		}
	}
	return !dir && slices.Contains(junkFiles, names[last])
}

// clean checks the name of an entry and gives it as a path in the bot's folder;
// "." is the folder itself.
func (l Limits) clean(name string) (string, error) {
	if len(name) > l.Path {
		return "", tooLarge("use shorter names", "the path %s has %d bytes: at most %d are allowed", quote(name), len(name), l.Path)
	}
	if !utf8.ValidString(name) {
		return "", invalid("rename it, or pack with a tool that writes UTF-8 (timba submit does)", "the name %s is not UTF-8", quote(name))
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return "", invalid("rename it with characters that can be seen", "the name %s has the character %U, which does not show", quote(name), r)
		}
	}
	if !norm.NFC.IsNormalString(name) {
		return "", invalid("rename it, as in: convmv -f utf8 -t utf8 --nfc --notest -r .", "the name %s is not in the Unicode form NFC", quote(name))
	}
	switch {
	case strings.ContainsRune(name, '\\'):
		return "", invalid("pack with a tool that separates folders by /", "the name %s has a backslash", quote(name))
	case strings.HasPrefix(name, "/"):
		return "", invalid("pack the bot's folder by relative paths", "the path %s is absolute", quote(name))
	}
	var names []string
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." {
			continue
		}
		if err := cleanPart(part, name); err != nil {
			return "", err
		}
		names = append(names, part)
	}
	if len(names) > l.Depth {
		return "", tooLarge("use fewer folders in folders", "the path %s is %d names deep: at most %d are allowed", quote(name), len(names), l.Depth)
	}
	return path.Join(append([]string{"."}, names...)...), nil
}

// cleanPart checks one name of a path.
func cleanPart(part, name string) error {
	base, _, _ := strings.Cut(strings.ToLower(part), ".")
	switch i := strings.IndexAny(part, `<>:"|?*`); {
	case part == "..":
		return invalid("pack only what is in the bot's folder", "the path %s leads out of the folder by \"..\"", quote(name))
	case i >= 0:
		return invalid("rename it: Windows has no such names", "the name %s has the character %q", quote(name), part[i])
	case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
		return invalid("rename it: Windows has no such names", "the name %s ends in a dot or a space", quote(name))
	case slices.Contains(reserved, strings.TrimRight(base, " ")):
		return invalid("rename it", "the name %s is that of a device on Windows", quote(name))
	}
	return nil
}

// fold is the same for names that some system takes for the same.
func fold(p string) string { return norm.NFC.String(cases.Fold().String(norm.NFD.String(p))) }

// paths are the files and folders of a tree, those that are only named as parts
// of others too.
type paths struct {
	at map[string]place // by fold
}

type place struct {
	path string
	dir  bool
}

// add takes a path, and the folders above it.
func (ps *paths) add(p string, dir bool) error {
	if ps.at == nil {
		ps.at = map[string]place{}
	}
	for q, isDir := p, dir; q != "."; q, isDir = path.Dir(q), true {
		key := fold(q)
		old, ok := ps.at[key]
		switch {
		case !ok:
			ps.at[key] = place{q, isDir}
		case old.path != q:
			return invalid("rename one", "%s and %s are the same name where capitals do not count", quote(old.path), quote(q))
		case !old.dir && !isDir:
			return invalid("pack it again from the folder", "%s is in it twice", quote(q))
		case old.dir != isDir:
			return invalid("pack it again from the folder", "%s is both a file and a folder", quote(q))
		default:
			return nil // a folder that is known, and so are those above it
		}
	}
	return nil
}
