package submission

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/datadir"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/referee/program"
)

// install moves the bot to the store of built bots, unless a build of the same files is there already.
func (s *submission) install(ctx context.Context) error {
	h, err := s.builds.Add(ctx, s.hash, func(_ context.Context, path string) error { return s.move(path) })
	if err != nil {
		return fmt.Errorf("submission: keeping the bot: %w", err)
	}
	h.Release()
	return nil
}

// move moves the bot's directory to path, which must not exist, and makes its files read-only. Directories
// stay writable, so that the user of the server can delete them.
func (m *botBuild) move(path string) error {
	if err := readOnly(m.dir); err != nil {
		return err
	}
	return os.Rename(m.dir, path)
}

// readOnly makes the files in dir readable for everybody and writable for nobody, and syncs them to the disk.
func readOnly(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o755)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return makeReadOnly(path, 0o444|info.Mode()&0o111)
	})
}

func makeReadOnly(path string, mode fs.FileMode) error {
	if mode&0o111 != 0 {
		mode |= 0o111
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), f.Sync(), f.Close())
}

// Resolve returns a version as a program in its sandbox, ready to be started. If the version's build is missing,
// Resolve builds it again from the upload. The build is not removed before ctx ends. An error is a failure of the
// server, never of the bot.
func (p *Pipeline) Resolve(ctx context.Context, v ladder.Version) (match.Contestant, error) {
	if v.IsHouse() {
		house, err := program.Resolver{}.Resolve(ctx, v.Bot)
		house.Contestant.Temp = p.Dir.Temp()
		return house.Contestant, err
	}
	if !datadir.IsHash(v.Hash) {
		return match.Contestant{}, fmt.Errorf("submission: version %d of %s has not been built", v.Number, v.Bot)
	}
	if err := p.Restore(ctx, v); err != nil {
		return match.Contestant{}, err
	}
	return p.bot(p.Dir.Bot(v.Hash), v)
}

// bot returns version v, whose built files are in dir, as a program in its sandbox.
func (p *Pipeline) bot(dir string, v ladder.Version) (match.Contestant, error) {
	c, err := p.contestant(dir, v.Command)
	if err != nil {
		return c, fmt.Errorf("submission: version %d of %s: %w", v.Number, v.Bot, err)
	}
	c.Name, c.Version, c.Temp, c.Hash, c.Sandbox, c.Language = v.Bot, v.DisplayLabel(), p.Dir.Temp(), v.Hash, p.Sandbox(), v.Language
	return c, nil
}

// Restore builds a version again from its upload if its build is missing. The build is not removed before ctx
// ends. If the upload does not have the hash of the version, Restore returns an error. v must not be a house bot
// (part of timba) or a remote bot (on its owner's machine).
func (p *Pipeline) Restore(ctx context.Context, v ladder.Version) error {
	h, err := p.builds.Add(ctx, v.Hash, func(ctx context.Context, path string) error { return p.restore(ctx, v, path) })
	if err != nil {
		return fmt.Errorf("submission: restoring version %d of %s: %w", v.Number, v.Bot, err)
	}
	context.AfterFunc(ctx, h.Release)
	return nil
}

// restore builds a version again from its upload, and moves the result to path.
func (p *Pipeline) restore(ctx context.Context, v ladder.Version, path string) error {
	work, err := p.Dir.MkdirTemp(fmt.Sprintf("restore-%d-", v.ID))
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	m, err := p.unbundle(v.Bundle, work)
	if err != nil {
		return err
	}
	if m.hash != v.Hash {
		return fmt.Errorf("the upload %s makes a bot with the hash %s, not %s", v.Bundle, m.hash, v.Hash)
	}
	if err := m.readManifest(); err != nil {
		return err
	}
	ctx, cancel := p.timeout(ctx, BuildTime)
	defer cancel()
	if _, err := p.buildBot(ctx, m, newTranscript(), work); err != nil {
		return err
	}
	if needs := needsOf(m.dir, v.Command); !needs.Equal(v.Needs) { // the previous build was made on another machine
		if err := p.Store.Versions.SetNeeds(ctx, v.Hash, needs); err != nil {
			return err
		}
	}
	return m.move(path)
}

// contestant returns the bot whose built files are in dir, in the form that a match needs, but without a name. run is
// the command in the bot's manifest. If the command cannot be run, or its program is neither in dir nor part of the
// system, contestant returns a refusal (an error that blames the bot).
func (p *Pipeline) contestant(dir string, run []string) (match.Contestant, error) {
	if err := p.checkCommand(dir, run); err != nil {
		return match.Contestant{}, err
	}
	c, err := program.Manifest{Run: run}.Contestant(dir)
	if err != nil {
		return c, newRefusal("run: %s", strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	return c, nil
}

// checkCommand returns a refusal (an error that blames the bot) if the command starts a program that is neither in
// the bot's directory, dir, nor a program of the system.
func (p *Pipeline) checkCommand(dir string, command []string) error {
	if err := program.CheckCommandWord(dir, string(p.Dir), command[0]); err != nil {
		return newRefusal("%s", err)
	}
	return nil
}
