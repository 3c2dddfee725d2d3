// Package phrase has texts for people that can be translated. A Text consists of a format in English, which
// is also the key of its translations, and of the values in it.
package phrase

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is a text for people. It is either a format in English with the values of its verbs, which can be translated,
// or a plain text that is the same in every language. The zero value is an empty text.
type Text struct {
	Format string // in English, with the verbs of package fmt
	Args   []Text // values of the verbs
	Plain  string // used if Format is "": a text that is the same in every language
}

// cutVerb splits a format at its first verb, such as %d: it returns the text before the verb, the verb, and the text
// after it. Without a verb, before is the whole format. A verb may have an index, as in %[2]s, and %% counts as a
// verb. cutVerb does not use regular expressions because compiling them would delay the start of programs.
func cutVerb(format string) (before, verb, rest string) {
	for from := 0; ; {
		i := strings.IndexByte(format[from:], '%')
		if i < 0 {
			return format, "", ""
		}
		i += from
		end := i + 1
		for end < len(format) && strings.IndexByte("[].-+# 0123456789", format[end]) >= 0 {
			end++
		}
		if end < len(format) && (format[end] == '%' || format[end] < utf8.RuneSelf && unicode.IsLetter(rune(format[end]))) {
			return format[:i], format[i : end+1], format[end+1:]
		}
		from = end
	}
}

// New returns a text with a format in English and the values of its verbs, args. Values are formatted as by
// fmt.Sprintf. A value that is a Text, or an error with a method Phrase, is translated together with the text.
func New(format string, args ...any) Text {
	t := Text{Format: format}
	for _, verb, rest := cutVerb(format); verb != ""; _, verb, rest = cutVerb(rest) {
		switch {
		case verb == "%%":
		case len(t.Args) == len(args):
			t.Args = append(t.Args, Plain(verb))
		default:
			t.Args = append(t.Args, valueOf(verb, args[len(t.Args)]))
		}
	}
	return t
}

// valueOf returns a value of a text, formatted by the given verb. If the value is a Text, or an error with a method
// Phrase, and the verb is %s, %v or %w, the result can still be translated.
func valueOf(verb string, value any) Text {
	if verb == "%w" {
		verb = "%v"
	}
	if verb == "%s" || verb == "%v" {
		switch value := value.(type) {
		case Text:
			return value
		case error:
			return FromError(value)
		}
	}
	return Plain(fmt.Sprintf(verb, value))
}

// Plain returns a Text that is the same in every language.
func Plain(text string) Text { return Text{Plain: text} }

// IsZero reports whether the text is empty.
func (t Text) IsZero() bool { return t.Format == "" && t.Plain == "" }

// Equal reports whether two texts are equal.
func (t Text) Equal(o Text) bool {
	return t.Format == o.Format && t.Plain == o.Plain && slices.EqualFunc(t.Args, o.Args, Text.Equal)
}

// String returns the text in English.
func (t Text) String() string {
	text, _ := t.Translate(nil)
	return text
}

// Translate returns the text in another language, and whether all of it is translated. translations maps formats in
// English to formats in that language. A format without a translation stays in English; it counts as translated only
// if it contains no words. A text without a format is returned as it is and counts as not translated.
func (t Text) Translate(translations map[string]string) (text string, complete bool) {
	if t.Format == "" {
		return t.Plain, false
	}
	format, complete := translations[t.Format]
	if !complete {
		format = t.Format
	}
	values := make([]string, len(t.Args))
	known := true
	for i, arg := range t.Args {
		translated := false
		if values[i], translated = arg.Translate(translations); arg.Format != "" {
			known = known && translated
		}
	}
	var b strings.Builder
	words := false // the format has letters
	for n := 0; format != ""; {
		before, verb, rest := cutVerb(format)
		b.WriteString(before)
		words = words || strings.ContainsFunc(before, unicode.IsLetter)
		if verb == "" {
			break
		}
		if format = rest; verb == "%%" {
			b.WriteByte('%')
			continue
		}
		i := n
		if index, _, ok := strings.Cut(strings.TrimPrefix(verb, "%["), "]"); ok {
			i, _ = strconv.Atoi(index) // digits
			i--
		}
		if n++; i >= 0 && i < len(values) {
			verb = values[i]
		}
		b.WriteString(verb)
	}
	return b.String(), known && (complete || !words)
}

// MarshalJSON encodes the text as a list of its format and values, such as ["bot %q does not exist",
// "\"anna\""]. A text that is the same in every language is encoded as a string.
func (t Text) MarshalJSON() ([]byte, error) {
	if t.Format == "" {
		return json.Marshal(t.Plain)
	}
	list := []any{t.Format}
	for _, arg := range t.Args {
		list = append(list, arg)
	}
	return json.Marshal(list)
}

// UnmarshalJSON decodes a text that MarshalJSON has encoded.
func (t *Text) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '[' {
		*t = Text{}
		return json.Unmarshal(data, &t.Plain)
	}
	var list []Text
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	if len(list) == 0 || list[0].Format != "" {
		return fmt.Errorf("phrase: %.80q does not begin with a format", data)
	}
	*t = Text{Format: list[0].Plain, Args: list[1:]}
	return nil
}

// Join returns a text that consists of the given texts with a separator between them. The separator is not
// translated.
func Join(separator string, texts ...Text) Text {
	return Text{Format: strings.Repeat("%s"+separator, max(0, len(texts)-1)) + "%s", Args: texts}
}

// Map returns a copy of the text. In the copy, change has been applied to all parts that are the same in every
// language, such as names.
func (t Text) Map(change func(string) string) Text {
	args := make([]Text, len(t.Args))
	for i, arg := range t.Args {
		args[i] = arg.Map(change)
	}
	return Text{t.Format, args, change(t.Plain)}
}

// TextError is an error whose message is a Text, so that it can be translated.
type TextError struct {
	Text
	cause error
}

// Errorf returns an error whose message is New(format, args...), so that the message can be translated when it is
// shown. If the format has the verb %w once, the error wraps the value of that verb, as with fmt.Errorf.
func Errorf(format string, args ...any) error {
	return &TextError{New(format, args...), errors.Unwrap(fmt.Errorf(format, args...))}
}

func (e *TextError) Error() string { return e.String() }

// Unwrap returns the error that was the value of the verb %w in Errorf, or nil if there was none.
func (e *TextError) Unwrap() error { return e.cause }

// Phrase returns the message of the error as a Text, which can be translated.
func (e *TextError) Phrase() Text { return e.Text }

// FromError returns the message of err, which must not be nil, as a Text. The text can be translated only if err has
// a method Phrase.
func FromError(err error) Text {
	if p, ok := err.(interface{ Phrase() Text }); ok {
		return p.Phrase()
	}
	return Plain(err.Error())
}
