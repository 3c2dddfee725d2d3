package trees

import "bytes"

// HeadSize is the number of bytes at the beginning of a file that FormatOf needs.
const HeadSize = 512

// formats maps the first bytes of a file to the format that FormatOf returns.
var formats = []struct{ begin, name string }{
	{"PK\x03\x04", "zip"}, {"PK\x05\x06", "zip"}, {"\x1f\x8b", "tar.gz"}, {"\x28\xb5\x2f\xfd", "tar.zst"},
	{"7z\xbc\xaf", "7z"}, {"Rar!", "rar"}, {"\xfd7zXZ", "xz"}, {"BZh", "bzip2"}, {"\x04\x22\x4d\x18", "lz4"}, {"!<arch>", "ar"},
	{"MZ", WindowsProgram}, {"\x7fELF", LinuxProgram},
}

// The results of FormatOf for programs, as opposed to archives.
const (
	WindowsProgram = "Windows program"
	LinuxProgram   = "Linux program"
)

// FormatOf returns the format of a file that begins with head, such as "zip" or "7z", or "" if it is unknown. For
// every file in the format of gzip or zstd it returns "tar.gz" or "tar.zst".
func FormatOf(head []byte) string {
	for _, f := range formats {
		if bytes.HasPrefix(head, []byte(f.begin)) {
			return f.name
		}
	}
	if len(head) >= 262 && string(head[257:262]) == "ustar" {
		return "tar"
	}
	return ""
}
