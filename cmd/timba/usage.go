package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// checkUsage makes a command and those below it check their flags and arguments, and say
// what is wrong with them in timba's words. The number of arguments follows from the usage
// line, unless the command has its own check.
func checkUsage(cmd *cobra.Command) {
	own := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := emptyFlag(cmd); err != nil {
			return err
		}
		if err := emptyArgument(cmd, args); err != nil {
			return err
		}
		if own != nil {
			if err := own(cmd, args); err == nil || !cobraUsage(err) {
				return err
			}
		}
		return countArguments(cmd, args)
	}
	for _, c := range cmd.Commands() {
		checkUsage(c)
	}
}

// cobraUsage reports whether an error is one of cobra's about the number of arguments.
func cobraUsage(err error) bool {
	for _, start := range []string{"accepts ", "requires ", "unknown command "} {
		if strings.HasPrefix(err.Error(), start) {
			return true
		}
	}
	return false
}

// argument is a word of a usage line: BOT, [BOT] or BOT...
type argument struct {
	name               string
	optional, repeated bool
}

// arguments returns the arguments in the usage line of a command.
func arguments(use string) (list []argument) {
	words := strings.Fields(use)
	for i := 1; i < len(words); i++ {
		word := words[i]
		if word == "--" {
			continue
		}
		if strings.HasPrefix(word, "--") {
			i++ // the value of a flag
			continue
		}
		var a argument
		if inner, ok := strings.CutPrefix(word, "["); ok {
			a.optional, word = true, strings.TrimSuffix(inner, "]")
		}
		a.name, a.repeated = strings.CutSuffix(word, "...")
		list = append(list, a)
	}
	return list
}

// countArguments compares the number of arguments with the usage line.
func countArguments(cmd *cobra.Command, args []string) error {
	list := arguments(cmd.Use)
	for i, a := range list {
		if i >= len(args) && !a.optional {
			return fmt.Errorf("%s: %s is missing: %s", commandName(cmd), a.name, tryUsage(cmd))
		}
	}
	if len(args) > len(list) && (len(list) == 0 || !list[len(list)-1].repeated) {
		return fmt.Errorf("%s: argument %q is one too many: %s", commandName(cmd), args[len(list)], tryUsage(cmd))
	}
	return nil
}

// emptyArgument returns an error about an argument without a character.
func emptyArgument(cmd *cobra.Command, args []string) error {
	list, at := arguments(cmd.Use), slices.Index(args, "")
	if at < 0 || len(list) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s is empty: %s", commandName(cmd), list[min(at, len(list)-1)].name, tryUsage(cmd))
}

// commandName returns the words of a command after the program's name.
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

func tryUsage(cmd *cobra.Command) string {
	return fmt.Sprintf("try %s; see %s --help", cmd.UseLine(), cmd.CommandPath())
}

// emptyFlag returns an error about a flag that was given with an empty text: leaving it out
// would mean something else.
func emptyFlag(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		if err == nil && (value == "" || value == "[]" && f.Value.Type() != "string") {
			err = fmt.Errorf("--%s is empty: give a value or leave it out; see %s --help", f.Name, cmd.CommandPath())
		}
	})
	return err
}

// flagError returns an error of pflag in timba's words.
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

// tryValue says what a flag takes.
func tryValue(f *pflag.Flag) string {
	if n, ok := f.Value.(interface{ allowed() string }); ok {
		return "try " + n.allowed()
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

// number is the value of a flag: a whole number in a range.
type number[T int | int64] struct {
	to          *T
	least, most T
}

// numberFlag adds a flag with a whole number from least to most. The default may be another.
func numberFlag[T int | int64](cmd *cobra.Command, to *T, name string, value, least, most T, usage string) {
	*to = value
	cmd.Flags().Var(&number[T]{to, least, most}, name, usage)
}

// countFlag adds a flag with a whole number of at least 1; 0 is the default where it was left out.
func countFlag[T int | int64](cmd *cobra.Command, to *T, name string, value T, usage string) {
	numberFlag(cmd, to, name, value, 1, T(math.MaxInt), usage)
}

// msFlag adds a flag with milliseconds, at most a day: the longest clock.
func msFlag(cmd *cobra.Command, to *int, name string, value, least int, usage string) {
	numberFlag(cmd, to, name, value, least, int((24 * time.Hour).Milliseconds()), usage)
}

func (n *number[T]) String() string {
	if n.to == nil {
		return "0"
	}
	return fmt.Sprint(*n.to)
}

func (n *number[T]) Set(s string) error {
	v, err := strconv.ParseInt(s, 10, strconv.IntSize)
	if err != nil || T(v) < n.least || T(v) > n.most {
		return errors.New(n.allowed())
	}
	*n.to = T(v)
	return nil
}

func (n *number[T]) Type() string { return "int" }

func (n *number[T]) allowed() string {
	if n.most == T(math.MaxInt) {
		return fmt.Sprintf("%d or more", n.least)
	}
	return fmt.Sprintf("%d to %d", n.least, n.most)
}

// factor is the value of a flag: a number in a range.
type factor struct {
	to          *float64
	least, most float64
}

// factorFlag adds a flag with a number from least to most, 1 by default.
func factorFlag(cmd *cobra.Command, to *float64, name string, least, most float64, usage string) {
	decimalFlag(cmd, to, name, 1, least, most, usage)
}

// decimalFlag adds a flag with a number from least to most.
func decimalFlag(cmd *cobra.Command, to *float64, name string, value, least, most float64, usage string) {
	*to = value
	cmd.Flags().Var(&factor{to, least, most}, name, usage)
}

func (f *factor) String() string {
	if f.to == nil {
		return "0"
	}
	return fmt.Sprint(*f.to)
}

func (f *factor) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= f.least && v <= f.most) {
		return errors.New(f.allowed())
	}
	*f.to = v
	return nil
}

func (f *factor) Type() string { return "float" }

func (f *factor) allowed() string { return fmt.Sprintf("%g to %g", f.least, f.most) }
