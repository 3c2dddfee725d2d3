package cli

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/timba-arena/timba/internal/size"
)

// checkUsage makes cmd and its subcommands describe wrong flags and arguments in timba's own words. They also
// reject empty flags and arguments, which Cobra accepts. A command without Args then takes no arguments.
func checkUsage(cmd *cobra.Command) {
	arguments := cmd.Args
	switch {
	case cmd.Name() == "help": // Cobra's own command, whose arguments are the words of a command
		arguments = cobra.ArbitraryArgs
	case arguments == nil:
		arguments = cobra.NoArgs
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := checkEmpty(cmd, args); err != nil {
			return err
		}
		for _, check := range []func() error{func() error { return arguments(cmd, args) }, cmd.ValidateRequiredFlags, cmd.ValidateFlagGroups} {
			if err := check(); err != nil {
				return usageError(cmd, err)
			}
		}
		return nil
	}
	for _, c := range cmd.Commands() {
		checkUsage(c)
	}
}

// cobraMessages has patterns for messages of Cobra about wrong usage, each with its replacement.
var cobraMessages = []struct {
	cobra *regexp.Regexp
	words string
}{
	{regexp.MustCompile(`^unknown command (".*") for ".*"$`), "argument $1 is one too many"},
	{regexp.MustCompile(`^(accepts|requires)(.*) 1 arg\(s\)(.*)$`), "$1$2 1 argument$3"},
	{regexp.MustCompile(`^(accepts|requires)(.*) arg\(s\)(.*)$`), "$1$2 arguments$3"},
	{regexp.MustCompile(`^required flag\(s\) "([^"]*)".* not set$`), "--$1 is missing"},
	{regexp.MustCompile(`^if any flags .* none of the others can be; \[(\S+) ([^] ]+).*$`), "--$1 and --$2 exclude each other: leave one out"},
	{regexp.MustCompile(`^if any flags in the group \[(.*)\] are set they must all be set; missing \[([^] ]+).*$`), "--$2 is missing: the flags $1 go together"},
}

// usageError translates err, an error of Cobra about the usage of cmd, into words of timba. It returns other
// errors unchanged.
func usageError(cmd *cobra.Command, err error) error {
	for _, m := range cobraMessages {
		if m.cobra.MatchString(err.Error()) {
			return fmt.Errorf("%s: %s: %s", commandName(cmd), m.cobra.ReplaceAllString(err.Error(), m.words), tryUsage(cmd))
		}
	}
	return err
}

// checkEmpty returns an error if one of the arguments args or a flag of cmd has an empty value.
func checkEmpty(cmd *cobra.Command, args []string) (err error) {
	if i := slices.Index(args, ""); i >= 0 {
		return fmt.Errorf("%s: argument %d is empty: %s", commandName(cmd), i+1, tryUsage(cmd))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		if err == nil && (value == "" || value == "[]" && f.Value.Type() != "string") {
			err = fmt.Errorf("--%s is empty: give a value or leave it out; see %s --help", f.Name, cmd.CommandPath())
		}
	})
	return err
}

func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

func tryUsage(cmd *cobra.Command) string {
	return fmt.Sprintf("try %s; see %s --help", cmd.UseLine(), cmd.CommandPath())
}

func flagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		missing *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
		syntax  *pflag.InvalidSyntaxError
	)
	switch {
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			name = "-" + unknown.GetSpecifiedShortnames()
		}
		if similar := similarFlags(cmd, unknown.GetSpecifiedName()); len(similar) > 0 {
			return fmt.Errorf("flag %s does not exist: try --%s", name, strings.Join(similar, ", --"))
		}
		return fmt.Errorf("flag %s does not exist: %s", name, tryUsage(cmd))
	case errors.As(err, &missing):
		return fmt.Errorf("--%s has no value: %s; see %s --help", missing.GetFlag().Name, tryValue(missing.GetFlag()), cmd.CommandPath())
	case errors.As(err, &invalid):
		return fmt.Errorf("--%s cannot be %q: %s", invalid.GetFlag().Name, invalid.GetValue(), tryValue(invalid.GetFlag()))
	case errors.As(err, &syntax):
		return fmt.Errorf("%q cannot be read as a flag: %s", syntax.GetSpecifiedFlag(), tryUsage(cmd))
	}
	return err
}

func similarFlags(cmd *cobra.Command, name string) []string {
	flags := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags.AddCommand(&cobra.Command{Use: f.Name, Hidden: f.Hidden, Run: func(*cobra.Command, []string) {}})
	})
	return flags.SuggestionsFor(name)
}

// tryValue returns advice on which values the flag accepts, for an error message.
func tryValue(f *pflag.Flag) string {
	if n, ok := f.Value.(interface{ AllowedText() string }); ok && n.AllowedText() != "" {
		return "try " + n.AllowedText()
	}
	switch f.Value.Type() {
	case "bool":
		return "try true or false"
	case "int", "int64":
		return "try a whole number"
	case "uint", "uint64":
		return "try a whole number from 0"
	case "duration":
		return "try a time such as 10s or 5m"
	case "stringSlice":
		return "try words with commas between them"
	}
	name, usage := pflag.UnquoteUsage(f)
	if name == "string" {
		name = "TEXT"
	}
	return fmt.Sprintf("try --%s %s, %s", f.Name, name, usage)
}

// number is the value of a flag that accepts a number or a duration from min to max.
type number[T int | int64 | float64 | time.Duration] struct {
	target   *T
	min, max T
}

// NumberFlag adds a flag called name to cmd, which accepts a number or a duration and stores it in target. least and
// most are the bounds. value is the default, which may be out of these bounds. If it is below least, it means "not
// set", and help does not show it. usage is the help text of the flag.
func NumberFlag[T int | int64 | float64 | time.Duration](cmd *cobra.Command, target *T, name string, value, least, most T, usage string) {
	*target = value
	addNumber(cmd, &number[T]{target, least, most}, name, value < least, usage)
}

// addNumber adds a flag called name to cmd, whose value is v. If unset is true, help shows no default. usage is the
// help text of the flag.
func addNumber(cmd *cobra.Command, v pflag.Value, name string, unset bool, usage string) {
	cmd.Flags().Var(v, name, usage)
	if unset {
		cmd.Flags().Lookup(name).DefValue = "0"
	}
}

// CountFlag adds a flag called name to cmd. The flag accepts a whole number of at least 1 and stores it in target.
// value is the default. If it is 0, it means "not set", and help does not show it. usage is the help text of the
// flag.
func CountFlag[T int | int64](cmd *cobra.Command, target *T, name string, value T, usage string) {
	NumberFlag(cmd, target, name, value, 1, T(math.MaxInt), usage)
}

// MsFlag adds a flag called name to cmd. The flag accepts a number of milliseconds and stores the duration in target.
// least is the smallest number that it accepts; the largest is that of a day. value is the default in milliseconds.
// If it is below least, it means "not set". usage is the help text of the flag.
func MsFlag(cmd *cobra.Command, target *time.Duration, name string, value, least int, usage string) {
	*target = time.Duration(value) * time.Millisecond
	n := number[int]{&value, least, int((24 * time.Hour).Milliseconds())}
	addNumber(cmd, &milliseconds{n, target}, name, value < least, usage)
}

// milliseconds is the value of a flag that accepts a number of milliseconds and stores a duration in time.
type milliseconds struct {
	number[int]
	time *time.Duration
}

func (m *milliseconds) Set(s string) error {
	err := m.number.Set(s)
	*m.time = time.Duration(*m.target) * time.Millisecond
	return err
}

// SizeFlag adds a flag called name to cmd. The flag accepts a size of memory or files, such as 512m, and stores it in
// target. value is the default. If it is 0, it means "not set". usage is the help text of the flag.
func SizeFlag(cmd *cobra.Command, target *size.Bytes, name string, value size.Bytes, usage string) {
	*target = value
	cmd.Flags().Var(sizeValue{target}, name, usage)
}

type sizeValue struct{ *size.Bytes }

func (b sizeValue) Set(s string) (err error) {
	*b.Bytes, err = size.Parse(s)
	return err
}

func (b sizeValue) Type() string { return "size" }

// AllowedText describes the values that the flag accepts.
func (b sizeValue) AllowedText() string { return "a number and k, m or g, as in 512m" }

func (n *number[T]) String() string {
	if n.target == nil {
		return "0"
	}
	return fmt.Sprint(*n.target)
}

func (n *number[T]) Set(s string) error {
	var v T
	var err error
	switch target := any(&v).(type) {
	case *float64:
		*target, err = strconv.ParseFloat(s, 64)
	case *int64:
		*target, err = strconv.ParseInt(s, 10, 64)
	case *int:
		*target, err = strconv.Atoi(s)
	case *time.Duration:
		*target, err = time.ParseDuration(s)
	}
	if err != nil || !(v >= n.min && v <= n.max) { // false for NaN
		return errors.New(n.AllowedText())
	}
	*n.target = v
	return nil
}

func (n *number[T]) Type() string {
	switch any(n.target).(type) {
	case *float64:
		return "float"
	case *time.Duration:
		return "duration"
	}
	return "int"
}

// AllowedText describes the values that the flag accepts.
func (n *number[T]) AllowedText() string {
	if n.max == T(math.MaxInt) {
		return fmt.Sprintf("%v or more", n.min)
	}
	return fmt.Sprintf("%v to %v", n.min, n.max)
}
