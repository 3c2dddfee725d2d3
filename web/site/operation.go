package site

import (
	"net/http"
	"strings"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/sandbox"
)

// ServerStatus is the state of the server and its machine, for operators.
type ServerStatus struct {
	Failure   error         // why the server plays no matches; nil if it plays
	Sandbox   sandbox.Level // of the server's machine
	FreeBytes int64         // free space on the disk with the data directory
	DiskBytes int64         // size of that disk; 0 if it is unknown
}

// operationRows is the largest number of rows in a list of the page for operators.
const operationRows = 10

// operationPage is what the page for operators shows. Each list except Ladders has at most operationRows rows.
type operationPage struct {
	HasStatus bool
	ServerStatus
	Submissions       []ladder.Version // in the order in which they are processed
	SubmissionCount   int              // of all that are not finished
	Running           []ladder.Match
	Waiting           []ladder.Match
	FailedVersions    []ladder.Version
	SuspendedVersions []ladder.Version
	DroppedMatches    []ladder.Match
	BannedBots        []ladder.Bot
	Ladders           []store.LadderInfo // all that are played or paused
}

// SandboxKey returns the end of the key of the message about the sandbox level, such as "full".
func (p operationPage) SandboxKey() string { return strings.ToLower(p.Sandbox.String()) }

// Disk returns the free space and the size of the disk as texts.
func (p operationPage) Disk() (sizes struct{ Free, Size string }) {
	sizes.Free, sizes.Size = bundle.FormatSize(p.FreeBytes), bundle.FormatSize(p.DiskBytes)
	return sizes
}

// IsDiskFull reports whether the disk is almost full: more than four fifths of it are used.
func (p operationPage) IsDiskFull() bool { return p.FreeBytes < p.DiskBytes/5 }

// getOperation shows admins the state of the server, what waits, and what has failed and why.
func (s *Site) getOperation(v *visit) (err error) {
	if err := v.CheckAdmin("to see how the server is"); err != nil {
		return err
	}
	var page operationPage
	if s.Status != nil {
		page.HasStatus, page.ServerStatus = true, s.Status()
	}
	if page.Submissions, err = s.Store.Versions.ListPending(v.ctx()); err != nil {
		return err
	}
	page.SubmissionCount = len(page.Submissions)
	page.Submissions = page.Submissions[:min(len(page.Submissions), operationRows)]
	for state, list := range map[ladder.MatchState]*[]ladder.Match{ladder.Running: &page.Running, ladder.Dropped: &page.DroppedMatches} {
		if *list, err = s.Store.Matches.List(v.ctx(), store.MatchFilter{State: state, Limit: operationRows}); err != nil {
			return err
		}
	}
	if page.Waiting, err = s.Store.Matches.ListWaiting(v.ctx(), operationRows); err != nil {
		return err
	}
	if page.FailedVersions, err = s.Store.Versions.ListEnded(v.ctx(), ladder.Failed, operationRows); err != nil {
		return err
	}
	if page.SuspendedVersions, err = s.Store.Versions.ListEnded(v.ctx(), ladder.Suspended, operationRows); err != nil {
		return err
	}
	if page.BannedBots, err = s.Store.Bots.ListBanned(v.ctx(), operationRows); err != nil {
		return err
	}
	if page.Ladders, err = s.activeLadders(v.ctx()); err != nil {
		return err
	}
	return v.showPage(http.StatusOK, "operation", page)
}

// postPaused returns a handler that pauses the ladder in the path or, if paused is false, resumes it.
func (s *Site) postPaused(paused bool) func(*visit) error {
	return func(v *visit) error {
		if _, err := s.Service.SetPaused(v.ctx(), v.Actor, v.r.PathValue("ladder"), paused); err != nil {
			return err
		}
		return v.redirect("/account/operation#ladders")
	}
}

func (s *Site) postAnnouncement(v *visit) error {
	if err := s.Service.SetAnnouncement(v.ctx(), v.Actor, v.r.PostForm.Get("text")); err != nil {
		return err
	}
	return v.redirect("/account/operation")
}
