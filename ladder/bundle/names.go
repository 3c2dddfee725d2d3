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

// A name must mean the same file on Linux, macOS and Windows, so it must be valid on all three.

// reserved lists the names of devices on Windows. They are reserved with any suffix.
var reserved = []string{
	"con", "prn", "aux", "nul", "conin$", "conout$",
	"com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "com¹", "com²", "com³",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "lpt¹", "lpt²", "lpt³",
}

// Names of directories and files that are never part of a bot: those of version control, Python and desktops. They
// must include the directories that the hash of a bot ignores; otherwise some files of a bot would not be in its
// hash.
var (
	junkDirs  = []string{".git", ".hg", ".svn", ".bzr", "_darcs", "CVS", "__pycache__", "__MACOSX"}
	junkFiles = []string{".DS_Store", "Thumbs.db", "desktop.ini"}
)

// isJunk reports whether the path p is junk or in a junk directory. dir is true if p is a directory.
func isJunk(p string, dir bool) bool {
	names := strings.Split(p, "/")
	last := len(names) - 1
	for i, name := range names {
		if (i < last || dir) && slices.Contains(junkDirs, name) {
			return true
		}
	}
	return !dir && slices.Contains(junkFiles, names[last])
}

// cleanName checks the name of an entry of an archive. It returns the name as a path relative to the bot's
// directory, which is ".".
func (l Limits) cleanName(name string) (string, error) {
	if len(name) > l.PathSize {
		return "", tooLarge("use shorter names", "the path %s has %d bytes: at most %d are allowed", quote(name), len(name), l.PathSize)
	}
	if !utf8.ValidString(name) {
		return "", invalid("rename it, or pack with a tool that writes UTF-8 (timba submit does)", "the name %s is not UTF-8", quote(name))
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return "", invalid("rename it with printable characters", "the name %s has the character %U, which is not printable", quote(name), r)
		}
	}
	if !norm.NFC.IsNormalString(name) {
		return "", invalid("rename it, as in: convmv -f utf8 -t utf8 --nfc --notest -r .", "the name %s is not in the Unicode form NFC", quote(name))
	}
	switch {
	case strings.ContainsRune(name, '\\'):
		return "", invalid("pack with a tool that separates directories with /", "the name %s has a backslash", quote(name))
	case strings.HasPrefix(name, "/"):
		return "", invalid("pack the bot's directory with relative paths", "the path %s is absolute", quote(name))
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
		return "", tooLarge("nest fewer directories", "the path %s is %d names deep: at most %d are allowed", quote(name), len(names), l.Depth)
	}
	return path.Join(append([]string{"."}, names...)...), nil
}

// cleanPart returns an error unless part, one of the names in the path name, is valid as a file name on every
// system.
func cleanPart(part, name string) error {
	base, _, _ := strings.Cut(strings.ToLower(part), ".")
	switch i := strings.IndexAny(part, `<>:"|?*`); {
	case part == "..":
		return invalid("pack only what is in the bot's directory", "the path %s leaves the directory with \"..\"", quote(name))
	case i >= 0:
		return invalid("rename it: Windows does not allow such names", "the name %s has the character %q", quote(name), part[i])
	case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
		return invalid("rename it: Windows does not allow such names", "the name %s ends in a dot or a space", quote(name))
	case slices.Contains(reserved, strings.TrimRight(base, " ")):
		return invalid("rename it", "the name %s is reserved for a device on Windows", quote(name))
	}
	return nil
}

// fold returns a normal form of the path p. Two paths have the same normal form if some system takes them for the
// same file, for example because they differ only in upper and lower case.
func fold(p string) string { return norm.NFC.String(cases.Fold().String(norm.NFD.String(p))) }

// paths is a set of paths of a bot's files and directories. It also has the directories that the archive does not
// list, but in which files are.
type paths struct {
	entries map[string]entry // by fold of the path; only path and dir are set
}

// add adds the path p and the directories above it. dir says whether p is a directory. It returns an error if one of
// the paths conflicts with an earlier path.
func (ps *paths) add(p string, dir bool) error {
	if ps.entries == nil {
		ps.entries = map[string]entry{}
	}
	for q, isDir := p, dir; q != "."; q, isDir = path.Dir(q), true {
		key := fold(q)
		old, ok := ps.entries[key]
		switch {
		case !ok:
			ps.entries[key] = entry{path: q, dir: isDir}
		case old.path != q:
			return invalid("rename one", "%s and %s differ only in capitals, which some systems ignore", quote(old.path), quote(q))
		case !old.dir && !isDir:
			return invalid("pack it again from the directory", "%s is in the archive twice", quote(q))
		case old.dir != isDir:
			return invalid("pack it again from the directory", "%s is both a file and a directory", quote(q))
		default:
			return nil // the directories above it are known as well
		}
	}
	return nil
}
