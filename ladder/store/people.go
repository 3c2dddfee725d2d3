package store

import (
	"cmp"
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/events"
	"github.com/timba-arena/timba/ladder/store/queries"
)

// Add creates an account called name. admin says whether the person is an admin. If the name is taken, it returns an
// error.
func (s People) Add(ctx context.Context, name string, admin bool) (p ladder.Person, err error) {
	err = s.update(ctx, func(tx *Tx) error {
		p, err = tx.addPerson(ctx, name, admin)
		return err
	})
	return p, err
}

func (tx *Tx) addPerson(ctx context.Context, name string, admin bool) (ladder.Person, error) {
	name, handle, err := personName(name)
	if err != nil {
		return ladder.Person{}, err
	}
	if isTaken, err := tx.IsRemovedName(ctx, handle); err != nil || isTaken {
		return ladder.Person{}, cmp.Or(err, reservedError(name))
	}
	p, err := tx.AddPerson(ctx, queries.AddPersonParams{Name: name, Handle: handle, Admin: boolColumn(admin), Created: stamp(tx.now)})
	if isDuplicate(err) {
		return ladder.Person{}, conflict("choose another name", "person %q exists", name)
	}
	return person(p), err
}

// List returns all people in the order in which they joined.
func (s People) List(ctx context.Context) ([]ladder.Person, error) {
	rows, err := s.read.People(ctx)
	return convertRows(rows, person), machineError(err)
}

// Find returns the person with the given ID.
func (s People) Find(ctx context.Context, id int64) (ladder.Person, error) {
	p, err := s.read.person(ctx, id)
	return person(p), machineError(err)
}

func (tx *Tx) person(ctx context.Context, id int64) (queries.Person, error) {
	p, err := tx.Person(ctx, id)
	return p, ifNoRows(err, notFound("", "person %d does not exist", id))
}

// FindByName returns the person called name. Differences in case and width do not matter.
func (s People) FindByName(ctx context.Context, name string) (ladder.Person, error) {
	unknown := notFound(ladder.HintPeople, "person %q does not exist", ladder.Clip(name))
	_, handle, err := personName(name)
	if err != nil {
		return ladder.Person{}, unknown
	}
	p, err := s.read.PersonByHandle(ctx, handle)
	return person(p), machineError(ifNoRows(err, unknown))
}

// BlockedTimes returns when each blocked person was blocked, by person ID.
func (s People) BlockedTimes(ctx context.Context) (map[int64]time.Time, error) {
	rows, err := s.read.Blocked(ctx)
	people := map[int64]time.Time{}
	for _, r := range rows {
		people[r.ID] = nullMoment(r.Blocked)
	}
	return people, machineError(err)
}

// SetBlocked blocks or unblocks a person. While a person is blocked, the person's tokens are not valid and the
// person's bots do not play. Blocking also ends the person's sessions, cancels unfinished matches that the
// person requested or that the person's bots play, and ends submissions that are being processed.
func (s People) SetBlocked(ctx context.Context, id int64, blocked bool) error {
	var uploads []string
	err := s.update(ctx, func(tx *Tx) error {
		p, err := tx.person(ctx, id)
		if err != nil {
			return err
		}
		if p.Removed.Valid {
			return removedError(p)
		}
		var since time.Time
		if blocked {
			since = tx.now
		}
		if err := tx.BlockPerson(ctx, nullStamp(since), id); err != nil {
			return err
		}
		if blocked {
			uploads, err = tx.endAllOf(ctx, p, phrase.New("cancelled: %s is blocked", p.Name), false)
			return err
		}
		return tx.updateActive(ctx)
	})
	if err == nil {
		s.dropUploads(ctx, uploads...)
	}
	return err
}

// Remove removes a person forever. It ends the person's sessions, tokens, passkeys, unfinished matches and all
// submissions. The person's bots no longer play, but stay, with their games and ratings. The person gets the name
// RemovedName, also in stored replays, and nobody else gets the old name. Remove returns an error if the person was
// removed before, or is the last admin.
func (s People) Remove(ctx context.Context, id int64) error {
	var uploads []string
	err := s.update(ctx, func(tx *Tx) error {
		p, err := tx.person(ctx, id)
		if err != nil {
			return err
		}
		if p.Removed.Valid {
			return removedError(p)
		}
		if others, err := tx.CountOtherAdmins(ctx, id); err != nil || p.Admin != 0 && others == 0 {
			return cmp.Or(err, error(conflict("", "person %q is the last admin", p.Name)))
		}
		if err := tx.AddRemovedName(ctx, p.Handle); err != nil {
			return err
		}
		p.Name = RemovedName(id)
		if err := tx.RemovePerson(ctx, p.Name, nullStamp(tx.now), id); err != nil {
			return err
		}
		if uploads, err = tx.endAllOf(ctx, p, phrase.New("cancelled: %s is removed", p.Name), true); err != nil {
			return err
		}
		if err := tx.RevokeTokensOf(ctx, nullStamp(tx.now), id); err != nil {
			return err
		}
		if err := tx.DeletePasskeysOf(ctx, id); err != nil {
			return err
		}
		if err := tx.DeleteMessagesOf(ctx, id); err != nil {
			return err
		}
		return tx.renameInReplays(ctx, s.codec, p)
	})
	if err == nil {
		s.dropUploads(ctx, uploads...)
	}
	return err
}

func removedError(p queries.Person) error { return conflict("", "person %q is removed", p.Name) }

// endAllOf ends the sessions, unfinished matches and submissions of a person who has been blocked or removed, for the
// given reason. Submissions that wait in the queue are ended only if queued is true. It returns the hashes of the
// uploads of the ended submissions.
func (tx *Tx) endAllOf(ctx context.Context, p queries.Person, reason phrase.Text, queued bool) (uploads []string, err error) {
	if err := tx.updateActive(ctx); err != nil {
		return nil, err
	}
	if err := tx.EndSessionsOf(ctx, nullID(p.ID), 0); err != nil {
		return nil, err
	}
	tx.addEvent(events.Event{Kind: events.AccessEnded, Person: p.ID})
	return tx.cancelAllOf(ctx, p.ID, reason, queued)
}

// updateActive updates which versions play on the ladders: it removes those that may no longer play and adds those
// that may play again. It also drops waiting matches that can no longer be played.
func (tx *Tx) updateActive(ctx context.Context) error {
	tx.changesLadders = true
	if err := tx.UpdateActive(ctx); err != nil {
		return err
	}
	return tx.dropUnplayable(ctx)
}

// Announcement returns the text that an admin has set for all pages of the site, or "" if there is none.
func (s People) Announcement(ctx context.Context) (string, error) {
	text, err := s.read.Announcement(ctx)
	return text, machineError(ifNoRows(err, nil))
}

// maxAnnouncement is the greatest length of an announcement, in characters.
const maxAnnouncement = 500

// SetAnnouncement replaces the announcement by text, with one space for each run of white space. An empty text removes
// it. A text that is too long or not printable is an error.
func (s People) SetAnnouncement(ctx context.Context, text string) error {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > maxAnnouncement || !ladder.IsLine(text, utf8.UTFMax*maxAnnouncement) {
		return invalid("", "an announcement cannot be %q", ladder.Clip(text)).Try("write at most %d characters of plain text", maxAnnouncement)
	}
	return s.update(ctx, func(tx *Tx) error {
		if err := tx.DeleteAnnouncement(ctx); err != nil || text == "" {
			return err
		}
		return tx.AddAnnouncement(ctx, text)
	})
}

// Messages returns at most limit messages to a person with IDs greater than afterID, the oldest first.
func (s People) Messages(ctx context.Context, personID, afterID int64, limit int) ([]ladder.Message, error) {
	rows, err := s.read.MessagesAfter(ctx, personID, afterID, int64(limit))
	return convertRows(rows, message), machineError(err)
}

// LastMessages returns at most limit messages to a person, the newest first.
func (s People) LastMessages(ctx context.Context, personID int64, limit int) ([]ladder.Message, error) {
	rows, err := s.read.LastMessages(ctx, personID, int64(limit))
	return convertRows(rows, message), machineError(err)
}

// CountUnseen returns how many messages to a person are unread.
func (s People) CountUnseen(ctx context.Context, personID int64) (int, error) {
	n, err := s.read.CountUnseen(ctx, personID)
	return int(n), machineError(err)
}

// MarkSeen records that a person has read the messages with IDs from first to last.
func (s People) MarkSeen(ctx context.Context, personID, first, last int64) error {
	return s.update(ctx, func(tx *Tx) error {
		return tx.SetSeen(ctx, queries.SetSeenParams{Seen: nullStamp(tx.now), PersonID: personID, First: first, Last: last})
	})
}

// newPersonName returns a new person's name as pages show it. It returns an error if the name is not allowed or is
// reserved. It does not check whether another person has the name.
func newPersonName(name string) (shown string, err error) {
	shown, handle, err := personName(name)
	if err == nil && isReserved(handle) {
		err = reservedError(shown)
	}
	return shown, err
}

func reservedError(name string) error {
	return conflict("choose another name", "the name %q is reserved", name)
}

// AddInvite creates an invite and returns its code. One account can be opened with the code, of which only a hash is
// stored. If name is not empty, the account must have that name. by is the ID of the person who issues the invite, or
// 0 for the operator. If expires is zero, the invite does not expire.
func (s People) AddInvite(ctx context.Context, by int64, name string, expires time.Time) (code string, invite ladder.Invite, err error) {
	if name != "" {
		if name, err = newPersonName(name); err != nil {
			return "", invite, err
		}
	}
	key := newKey(invitePrefix)
	err = s.update(ctx, func(tx *Tx) error {
		row, err := tx.AddInvite(ctx, queries.AddInviteParams{
			Public: key.public, Hash: key.hash[:], Name: name, InvitedBy: nullID(by), Created: stamp(tx.now), Expires: nullStamp(expires),
		})
		invite = invitation(row)
		return err
	})
	return key.text, invite, err
}

// Invites returns the invites that can still be used.
func (s People) Invites(ctx context.Context) (list []ladder.Invite, err error) {
	rows, err := s.read.Invites(ctx, nullStamp(s.options.Now()))
	for _, r := range rows {
		i := invitation(r.Invite)
		i.Issuer = r.Inviter
		list = append(list, i)
	}
	return list, machineError(err)
}

// RevokeInvite deletes the invite with the given ID. It returns an error if there is no such invite or somebody has
// used it.
func (s People) RevokeInvite(ctx context.Context, id int64) error {
	return s.update(ctx, func(tx *Tx) error {
		n, err := tx.RevokeInvite(ctx, id)
		if err == nil && n == 0 {
			return notFound(ladder.HintInvites, "invite %d does not exist, or has been used", id)
		}
		return err
	})
}

func invitation(i queries.Invite) ladder.Invite {
	return ladder.Invite{ID: i.ID, Name: i.Name, CreatedAt: moment(i.Created), ExpiresAt: nullMoment(i.Expires)}
}

// Register opens an account. code is the code of an invite; if open is true, it may be empty. tokenText is the
// text of a new token with all rights; only a hash of it is stored.
func (s People) Register(ctx context.Context, code, name string, open bool) (p ladder.Person, tokenText string, err error) {
	if name, err = newPersonName(name); err != nil {
		return p, "", err
	}
	err = s.update(ctx, func(tx *Tx) error {
		var invite queries.Invite
		if code != "" || !open {
			if invite, err = tx.usableInvite(ctx, code, name); err != nil {
				return err
			}
		}
		if p, err = tx.addPerson(ctx, name, false); err != nil {
			return err
		}
		if invite.ID != 0 {
			if _, err := tx.UseInvite(ctx, nullID(p.ID), invite.ID); err != nil {
				return err
			}
		}
		tokenText, _, err = tx.addToken(ctx, p.ID, kindToken, "registration", ladder.ScopeAll, time.Time{})
		return err
	})
	return p, tokenText, err
}

// isSameName reports whether a and b are valid names that are equal, apart from case and width.
func isSameName(a, b string) bool {
	_, one, err := personName(a)
	_, other, otherErr := personName(b)
	return err == nil && otherErr == nil && one == other
}

// usableInvite returns the invite with the given code, or an error if an account called name cannot be opened
// with it.
func (tx *Tx) usableInvite(ctx context.Context, code, name string) (queries.Invite, error) {
	refused := ladder.Errorf(ladder.Unauthorized, ladder.HintNewInvite, "the invite is not valid")
	if strings.TrimSpace(code) == "" {
		return queries.Invite{}, ladder.Errorf(ladder.Unauthorized, "", "this competition is by invite only").Try(ladder.HintJoin, name)
	}
	key, ok := parseKey(invitePrefix, strings.TrimSpace(code))
	if !ok {
		return queries.Invite{}, refused
	}
	i, err := tx.InviteByPublic(ctx, key.public)
	if err != nil {
		return i, ifNoRows(err, refused)
	}
	switch {
	case !key.hasHash(i.Hash):
		return i, refused
	case i.PersonID.Valid:
		return i, ladder.Errorf(ladder.Unauthorized, ladder.HintNewInvite, "the invite has been used")
	case i.Expires.Valid && i.Expires.Int64 <= stamp(tx.now):
		return i, ladder.Errorf(ladder.Unauthorized, ladder.HintNewInvite, "the invite has expired")
	case i.Name != "" && !isSameName(i.Name, name):
		return i, ladder.Errorf(ladder.Forbidden, "", "the invite is not for %q", name).Try("register as %s", i.Name)
	}
	return i, nil
}
