package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/timba-arena/timba/cmd/internal/cli"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/text"
)

var errNoData = errors.New("data: name the server's data directory with --data DIR")

// onData calls do with the data directory, which --data must name.
func (f *adminFlags) onData(do func(*store.Store) error) error {
	if f.data == "" {
		return errNoData
	}
	s, err := store.Open(f.data, store.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Close())
}

func (f *adminFlags) newBackup() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "backup DIR",
		Short: "Back up a competition to a new directory, even while the server runs",
		Long: "Writes a snapshot of the database, the uploads and the configuration to a directory that does not\n" +
			"exist yet. Matches continue meanwhile. The backup is a data directory itself: timba admin verify\n" +
			"can check it, and to restore it you copy it back. See docs/operating.md.",
		Example: "  timba admin backup --data /var/lib/timba /backup/timba-2026-01-31",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.onData(func(s *store.Store) error {
				if err := s.Backup(cmd.Context(), args[0]); err != nil {
					return err
				}
				size, err := sizeOf(args[0])
				if err != nil {
					return fmt.Errorf("backup: %w", err)
				}
				if f.json {
					return cli.WriteJSON(cmd.OutOrStdout(), struct {
						Dir   string `json:"folder"`
						Bytes int64  `json:"bytes"`
					}{args[0], size})
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "wrote %s, %s\n", args[0], bundle.Size(size))
				return err
			})
		},
	}
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

// sizeOf returns the total size in bytes of the files in a directory.
func sizeOf(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

func (f *adminFlags) newVerify() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Rebuild every game and every rating, and print the differences",
		Long: "Rebuilds every game from its replay and every rating from the matches, and prints the\n" +
			"differences from the database. The server may run meanwhile.\n\n" +
			"Exit status: 0 no differences, 1 differences, 2 the data cannot be read, 3 interrupted.",
		Example: "  timba admin verify --data /var/lib/timba",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.onData(func(s *store.Store) error { return f.verify(cmd, s) })
		},
	}
	cli.JSONFlag(cmd, &f.json)
	return cmd
}

func (f *adminFlags) verify(cmd *cobra.Command, s *store.Store) error {
	bar := cli.NewProgress(cmd.ErrOrStderr(), "matches")
	found, err := s.Verify(cmd.Context(), func(done, total int64) {
		bar.Set(int(done), int(total))
	})
	bar.Clear()
	w := cmd.OutOrStdout()
	if f.json {
		type difference struct {
			Where string `json:"where"`
			What  string `json:"what"`
		}
		doc := struct {
			Differences []difference `json:"differences"`
		}{[]difference{}}
		for _, d := range found {
			doc.Differences = append(doc.Differences, difference{d.Where, d.What})
		}
		if err := cli.WriteJSON(w, doc); err != nil {
			return err
		}
	} else {
		for _, d := range found {
			fmt.Fprintln(w, d)
		}
		fmt.Fprintf(w, "%s found\n", text.Count(len(found), "difference"))
	}
	switch {
	case errors.Is(err, context.Canceled):
		return cli.ErrNoVerdict
	case err != nil:
		return err
	case len(found) > 0:
		return cli.ErrFault
	}
	return nil
}
