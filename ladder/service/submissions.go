package service

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/internal/trees"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee/program"
)

// CheckSubmit returns an error unless the actor may submit an archive for the bot called bot, which is "" if the
// manifest in the archive gives the name. size is the size of the archive in bytes, or negative if unknown.
func (s *Service) CheckSubmit(a Actor, bot string, size int64) error {
	if err := a.CheckScope(ladder.ScopeSubmit, "to submit a bot"); err != nil {
		return err
	}
	if bot != "" {
		if err := ladder.CheckBotName(bot); err != nil {
			return err
		}
	}
	if limit := int64(s.Config.Limits.Upload); size > limit {
		return ladder.Errorf(ladder.TooLarge, "", "the archive has %s, more than the limit of %s", bundle.FormatSize(size), bundle.FormatSize(limit)).
			Try("leave out what the bot does not need: %s names it", bundle.IgnoreFile)
	}
	return nil
}

// Upload is what somebody uploads: an archive or a single source file.
type Upload struct {
	Bot     string // name of the bot; empty if the manifest gives it
	File    string // name of a single file, from which its language is known; empty for an archive
	Content io.Reader
	Games   []string // games that a single file plays; nil means all
}

// Submit adds the upload u as the next version of a bot of the actor. The version then waits to be built and checked.
// Submit calls received when the upload has been read completely and stored in a temporary file.
func (s *Service) Submit(ctx context.Context, a Actor, u Upload, received func()) (v ladder.Version, err error) {
	bot := u.Bot
	if err := s.CheckSubmit(a, bot, -1); err != nil {
		return v, err
	}
	limits := bundle.LimitsOf(s.Config.Limits)
	upload, err := s.receive(u, limits)
	if err != nil {
		return v, err
	}
	defer upload.Discard()
	received()
	named, hash, err := s.inspectArchive(upload.Path, limits)
	if bot == "" {
		if err != nil {
			return v, err
		}
		bot = named
	}
	n := store.NewVersion{Bot: bot, Bundle: upload.SHA256, Hash: hash, StoreUpload: upload.Store}
	if v, err = s.Store.Versions.Add(ctx, a.Person.ID, n, s.Config.Limits); err == nil {
		s.Wake()
	}
	return v, err
}

// receive writes the upload u to a temporary file, within limits. If the upload is a single source file, it is packed
// into an archive with a manifest for its language.
func (s *Service) receive(u Upload, limits bundle.Limits) (*bundle.ReceivedArchive, error) {
	head, in, err := bundle.Head(u.Content)
	if err != nil {
		return nil, err
	}
	if u.File == "" || trees.FormatOf(head) != "" {
		return bundle.Receive(in, s.Store.Dir(), limits)
	}
	_, err = program.SingleFileManifest(u.File)
	switch {
	case len(head) == 0:
		return nil, ladder.Errorf(ladder.Invalid, "send another", "file %q is empty", u.File)
	case err != nil && slices.Contains([]string{".zip", ".gz", ".tgz", ".tar", ".zst"}, filepath.Ext(u.File)):
		return nil, ladder.Errorf(ladder.Invalid, "pack the bot's directory again", "file %q is no archive: it begins with %q", u.File, string(head[:min(len(head), 8)]))
	case err != nil:
		return nil, ladder.Errorf(ladder.Invalid, "", "no archive begins with %q, and %w", string(head[:min(len(head), 8)]), err)
	}
	content, err := io.ReadAll(io.LimitReader(in, limits.UploadSize+1))
	switch {
	case err != nil:
		return nil, bundle.CutOff(err)
	case int64(len(content)) > limits.UploadSize:
		return nil, ladder.Errorf(ladder.TooLarge, "", "file %q is larger than the limit of %s", u.File, bundle.FormatSize(limits.UploadSize))
	}
	dir, err := s.Store.Dir().MkdirTemp("file-*")
	if err != nil {
		return nil, unavailable(err)
	}
	defer os.RemoveAll(dir)
	if err := program.WriteFile(dir, u.File, content, u.Games); err != nil {
		return nil, unavailable(err)
	}
	packed, err := bundle.Pack(dir, limits)
	if err != nil {
		return nil, err
	}
	return bundle.Receive(bytes.NewReader(packed.Data), s.Store.Dir(), limits)
}

func unavailable(err error) error {
	return &ladder.Error{Code: ladder.Unavailable, Text: phrase.New("the upload cannot be unpacked"), Hint: phrase.New("try again later"), Err: err}
}

// inspectArchive unpacks an archive. It returns the name of the bot from the manifest, and the hash of the files.
// archive is the path of the archive. If the manifest has no name, it returns an error together with the hash. If the
// files cannot be hashed, hash is empty.
func (s *Service) inspectArchive(archive string, limits bundle.Limits) (name, hash string, err error) {
	tmp, err := s.Store.Dir().MkdirTemp("manifest-*")
	if err != nil {
		return "", "", unavailable(err)
	}
	defer os.RemoveAll(tmp)
	dir := filepath.Join(tmp, unnamed)
	if _, err := s.Unpack(archive, dir, limits); err != nil {
		return "", "", err
	}
	if hash, err = trees.HashSource(dir); err != nil {
		hash = "" // the stages will report what is wrong with the files
	}
	m, err := program.ReadManifest(dir)
	if err == nil && m.Name != unnamed {
		return m.Name, hash, ladder.CheckBotName(m.Name)
	}
	if _, missing := os.Stat(filepath.Join(dir, program.ManifestFile)); err != nil && missing == nil {
		return "", hash, ladder.Errorf(ladder.Invalid, "correct it", "the bot has no name: %s", strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	return "", hash, ladder.Errorf(ladder.Invalid, "", "the bot has no name: its archive has no %s with one", program.ManifestFile).Try(ladder.HintBotName, program.ManifestFile)
}

// unnamed is the name of the directory into which archives are unpacked. If a manifest gives no name, ReadManifest
// uses the name of the directory; so the name unnamed shows that the bot has no name.
const unnamed = "-"

// SubmissionProgress says how far the submission of a version is.
type SubmissionProgress struct {
	Version ladder.Version
	Stages  []ladder.Stage
	Done    bool // whether it has ended
	Place   int  // place in the queue, where 1 is next; 0 if it does not wait
}

// Submission returns how far the build and checks of the uploaded version with the given ID are. It returns an
// error unless the actor owns the bot.
func (s *Service) Submission(ctx context.Context, a Actor, id int64) (p SubmissionProgress, err error) {
	if p.Version, err = s.findSubmission(ctx, id); err != nil {
		return p, err
	}
	if err := a.CheckOwner(p.Version.Owner, "see a submission"); err != nil {
		return p, err
	}
	return s.progress(ctx, p.Version)
}

func (s *Service) findSubmission(ctx context.Context, id int64) (ladder.Version, error) {
	v, err := s.Store.Versions.Find(ctx, id)
	if ladder.CodeOf(err) == ladder.NotFound {
		err = ladder.Errorf(ladder.NotFound, "", "submission %d does not exist", id)
	}
	return v, err
}

func (s *Service) progress(ctx context.Context, v ladder.Version) (p SubmissionProgress, err error) {
	p.Version, p.Done = v, !v.State.IsPending()
	if p.Stages, err = s.Store.Versions.Stages(ctx, v.ID); err == nil && !p.Done && len(p.Stages) == 0 {
		p.Place, err = s.Store.Versions.QueuePlace(ctx, v.ID)
	}
	return p, err
}

// AwaitSubmission waits until the build and checks of the version with the given ID have ended, and returns their
// progress. It returns earlier if ready returns true for the progress, after the time wait, or when closing is
// closed. It returns an error unless the actor owns the bot.
func (s *Service) AwaitSubmission(ctx context.Context, a Actor, id int64, wait time.Duration, closing <-chan struct{}, ready func(SubmissionProgress) bool) (SubmissionProgress, error) {
	changes, stop := s.Events.Subscribe(1, func(e events.Event) bool { return e.Version == id || e.Kind == events.QueueChanged })
	defer stop()
	over := time.After(wait)
	for {
		p, err := s.Submission(ctx, a, id) // later changes send an event
		if err != nil || p.Done || ready(p) {
			return p, err
		}
		select {
		case _, more := <-changes:
			if !more { // the runner has stopped, and with it the server
				return p, nil
			}
		case <-over:
			return p, nil
		case <-closing:
			return p, nil
		case <-ctx.Done():
			return p, ctx.Err()
		}
	}
}

// CancelSubmission cancels the build and checks of an uploaded version, if they have not begun. The actor must
// own the bot and have the scope ScopeSubmit.
func (s *Service) CancelSubmission(ctx context.Context, a Actor, id int64) (p SubmissionProgress, err error) {
	v, err := s.findSubmission(ctx, id)
	if err != nil {
		return p, err
	}
	if err := a.checkChange(v.Owner, "cancel a submission"); err != nil {
		return p, err
	}
	if err := s.Store.Versions.Cancel(ctx, v.ID); err != nil {
		return p, err
	}
	if v, err = s.Store.Versions.Find(ctx, v.ID); err != nil {
		return p, err
	}
	return s.progress(ctx, v)
}
