package submission

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/rules/games"
)

// botBuild is a bot whose files are being unpacked and built.
type botBuild struct {
	dir      string // the current directory of its files
	hash     string // of the uploaded files
	tree     bundle.Tree
	manifest program.Manifest
	hold     *trees.Hold // of an existing build of the same files; nil if there is none
}

// release tells the store of built bots that m no longer uses an existing build, so that the build can be removed. m
// may be nil.
func (m *botBuild) release() {
	if m != nil && m.hold != nil {
		m.hold.Release()
	}
}

// unbundle unpacks an upload into a new directory in work. sum is the SHA-256 of the upload.
func (p *Pipeline) unbundle(sum, work string) (*botBuild, error) {
	file, err := p.Dir.Bundle(sum)
	if err != nil {
		return nil, err
	}
	m := &botBuild{dir: filepath.Join(work, "source")}
	if m.tree, err = bundle.Unpack(file, m.dir, bundle.LimitsOf(p.Config.Limits)); err != nil {
		return nil, err
	}
	if m.hash, err = trees.HashSource(m.dir); err != nil {
		return nil, fmt.Errorf("submission: %w", err)
	}
	return m, nil
}

// build is the second stage of checking an upload. It reads the manifest of the bot, builds the bot, and stores with
// the version its label, hash, language, games, command and needs. The owner sees summary and log.
func (s *submission) build(ctx context.Context, log *transcript) (summary phrase.Text, err error) {
	if err := s.readManifest(); err != nil {
		return summary, err
	}
	m := s.manifest
	fmt.Fprintf(log, "language: %s\ngames: %s\n", cmp.Or(m.Language(), "not known"), cmp.Or(strings.Join(m.Games, ", "), "all"))
	claimed, unknown, err := gamesOf(m)
	if err != nil {
		return summary, newRefusal("%s: games: %v", program.ManifestFile, err)
	}
	if len(unknown) > 0 {
		fmt.Fprintf(log, "warning: unknown games: %s\n", listSome(unknown, 10))
	}
	summary, err = s.buildBot(ctx, s.botBuild, log, s.work)
	if err != nil {
		return summary, err
	}
	if _, err := s.contestant(s.botBuild.dir, m.Run); err != nil {
		return summary, err
	}
	fmt.Fprintf(log, "run: %s\n", strings.Join(m.Run, " "))
	err = s.Store.Versions.SetBuildInfo(ctx, s.version.ID, store.BuildInfo{
		Label: label(m.Version, log), Hash: s.hash, Language: m.Language(), Games: claimed, Command: m.Run,
		Needs: needsOf(s.botBuild.dir, m.Run), Training: trainingRecord(m, log),
	})
	if err != nil {
		return summary, err
	}
	s.version, err = s.Store.Versions.Find(ctx, s.version.ID)
	return summary, err
}

// maxTraining is the size, in bytes, of the longest training record that is stored with a version of a bot. A training
// record is JSON that says how a model was trained.
const maxTraining = 8 << 10

// trainingRecord returns the JSON that says how the model with the manifest m was trained, without unnecessary spaces.
// It returns "" if the bot is not a model, if the model does not say how it was trained, or if the JSON is longer than
// maxTraining bytes. In the last case it writes a warning to log.
func trainingRecord(m program.Manifest, log *transcript) string {
	var record bytes.Buffer
	if json.Compact(&record, m.Training()) != nil {
		return ""
	}
	if record.Len() > maxTraining {
		fmt.Fprintf(log, "warning: the record of the training has %d bytes: only records of at most %d are shown\n", record.Len(), maxTraining)
		return ""
	}
	return record.String()
}

// label returns version, the text by which a manifest names the version, as one short line without the secrets of t.
func label(version string, t *transcript) string {
	const maxLabel = 40
	line := firstLine(t.clean(version))
	if len(line) > maxLabel {
		line = strings.ToValidUTF8(line[:maxLabel], "")
	}
	return line
}

// gamesOf returns the games that a manifest names. claimed has those that exist, each once, and unknown has the
// others. Both are nil if the manifest names no game, which means that the bot plays all games. An error says which
// option of a game does not exist.
func gamesOf(m program.Manifest) (claimed, unknown []string, err error) {
	for _, text := range m.Games {
		switch claim, known, err := games.CanonicalClaim(text); {
		case !known:
			unknown = append(unknown, text)
		case err != nil:
			return nil, nil, err
		case !slices.Contains(claimed, claim):
			claimed = append(claimed, claim)
		}
	}
	return claimed, unknown, nil
}

// readManifest reads the manifest in the bot's directory. If it is not valid, names an unknown option, or names only
// unknown games, the error is a refusal: the bot is to blame.
func (m *botBuild) readManifest() error {
	var err error
	if m.manifest, err = program.ReadManifest(m.dir); err != nil {
		return newRefusal("%s", phrase.FromError(err).Map(func(text string) string {
			text = strings.ReplaceAll(text, m.dir+string(filepath.Separator), "")
			return strings.ReplaceAll(text, m.dir, "the bot's directory")
		}))
	}
	claimed, unknown, err := gamesOf(m.manifest)
	if err != nil {
		return newRefusal("%s: games: %v", program.ManifestFile, err)
	}
	if len(unknown) > 0 && len(claimed) == 0 {
		_, _, err := games.CanonicalClaim(unknown[0])
		return newRefusal("%s claims only unknown games: %v", program.ManifestFile, err)
	}
	return nil
}

// buildBot builds a bot in the directory work, or uses an existing build of the same files. It sets m.dir to the
// directory with the built bot; an existing build may be used until m.release.
//
// A new build is moved to another directory before it is checked. If the bot has stored the path of its build, it
// therefore fails in the check, and not later in matches.
func (p *Pipeline) buildBot(ctx context.Context, m *botBuild, log *transcript, work string) (summary phrase.Text, err error) {
	h, err := p.builds.Get(m.hash)
	if err == nil {
		m.dir, m.hold = h.Path, h
		fmt.Fprintln(log, "these files have been built before: that build is used")
		return phrase.New("built before"), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return summary, fmt.Errorf("submission: %w", err)
	}
	summary = phrase.New("nothing to build")
	if words := m.manifest.Build; len(words) > 0 {
		fmt.Fprintf(log, "build: %s\n\n", strings.Join(words, " "))
		if err := p.checkCommand(m.dir, words); err != nil {
			return summary, err
		}
		out, err := program.Build(ctx, m.dir, words, p.level(), p.buildLimit())
		log.Write(out)
		if err != nil {
			return summary, buildError(ctx, words, out, err)
		}
		summary = phrase.New("built with %s", words[0])
	}
	if err := checkBuilt(m.dir); err != nil {
		return summary, err
	}
	dir := filepath.Join(work, "bot")
	if err := os.Rename(m.dir, dir); err != nil {
		return summary, fmt.Errorf("submission: %w", err)
	}
	m.dir = dir
	return summary, nil
}

// buildError returns the error for a build that ended with err. words is the build command, and out is its output. If
// the command failed, the error is a refusal, which blames the bot. Otherwise it is the error of ctx or a failure of
// the server.
func buildError(ctx context.Context, words []string, out []byte, err error) error {
	var failed *program.BuildError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !errors.As(err, &failed):
		return fmt.Errorf("submission: building: %w", err)
	}
	if line := program.BuildErrorLine(out); line != "" {
		return newRefusal("%s: %w; it says %q", words[0], err, line)
	}
	return newRefusal("%s: %w", words[0], err)
}

// checkBuilt returns a refusal if the built bot in dir is too large to be stored.
func checkBuilt(dir string) error {
	bytes, files, err := trees.Size(dir)
	switch {
	case err != nil:
		return fmt.Errorf("submission: %w", err)
	case bytes > bundle.MaxBuilt:
		return newRefusal("the build leaves %s behind, and at most %s are kept: let it delete what the bot does not need", bundle.FormatSize(bytes), bundle.FormatSize(bundle.MaxBuilt))
	case files > bundle.MaxBuiltFiles:
		return newRefusal("the build leaves %d files and directories behind, and at most %d are kept: let it delete what the bot does not need", files, bundle.MaxBuiltFiles)
	}
	return nil
}
