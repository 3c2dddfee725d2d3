package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/timba-arena/timba/web/wire"
)

func part(text string) string { return "/" + url.PathEscape(text) }
func number(n int64) string   { return "/" + strconv.FormatInt(n, 10) }

// values returns query parameters. The arguments are names and values in turn. A parameter with the value "" is left
// out.
func values(pairs ...string) url.Values {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}

func positive(n int) string {
	if n < 1 {
		return ""
	}
	return strconv.Itoa(n)
}

// Ladders returns all ladders.
func (c *Client) Ladders(ctx context.Context) ([]wire.Ladder, error) {
	page, err := get[wire.Page[wire.Ladder]](ctx, c, "/ladders", nil)
	return page.Items, err
}

// Standings yields the standings of a ladder, the best first. If all is true, it includes inactive versions.
func (c *Client) Standings(ctx context.Context, ladder string, all bool) iter.Seq2[wire.Standing, error] {
	return pages[wire.Standing](ctx, c, "/ladders"+part(ladder)+"/standings", values("active", strconv.FormatBool(!all), "limit", "500"))
}

// Bots yields the bots of a person, or all bots if owner is "", the oldest first.
func (c *Client) Bots(ctx context.Context, owner string) iter.Seq2[wire.Bot, error] {
	return pages[wire.Bot](ctx, c, "/bots", values("owner", owner))
}

// MyBots yields the bots of the user: the owner of the client's token.
func (c *Client) MyBots(ctx context.Context) iter.Seq2[wire.Bot, error] {
	return pages[wire.Bot](ctx, c, "/me/bots", nil)
}

// Bot returns a bot with its standings.
func (c *Client) Bot(ctx context.Context, name string) (wire.Bot, error) {
	return get[wire.Bot](ctx, c, "/bots"+part(name), nil)
}

// Versions yields a bot's versions, the newest first.
func (c *Client) Versions(ctx context.Context, bot string) iter.Seq2[wire.Version, error] {
	return pages[wire.Version](ctx, c, "/bots"+part(bot)+"/versions", nil)
}

// Withdraw removes a bot of the user from all ladders, until Restore.
func (c *Client) Withdraw(ctx context.Context, bot string) (wire.Bot, error) {
	return read[wire.Bot](ctx, c, request{method: http.MethodPut, path: "/bots" + part(bot) + "/withdrawal"})
}

// Restore makes a withdrawn bot of the user play again.
func (c *Client) Restore(ctx context.Context, bot string) (wire.Bot, error) {
	return read[wire.Bot](ctx, c, request{method: http.MethodDelete, path: "/bots" + part(bot) + "/withdrawal"})
}

// UseVersion makes a bot of the user play with an earlier version.
func (c *Client) UseVersion(ctx context.Context, bot string, version int) (wire.Bot, error) {
	return send[wire.Bot](ctx, c, request{method: http.MethodPut, path: "/bots" + part(bot) + "/live"}, wire.LiveVersion{Version: version})
}

// ArchiveDownload is a file that was uploaded as a version, byte for byte, while it is downloaded. The caller must
// close Body.
type ArchiveDownload struct {
	Name string // file name made of bot, version and format
	Body io.ReadCloser
}

// Upload downloads what the user has uploaded as a version of a bot, byte for byte.
func (c *Client) Upload(ctx context.Context, bot string, version int) (ArchiveDownload, error) {
	resp, err := c.do(ctx, request{method: http.MethodGet, path: "/bots" + part(bot) + "/versions" + number(int64(version)) + "/upload"})
	if err != nil {
		return ArchiveDownload{}, err
	}
	u := ArchiveDownload{Name: fmt.Sprintf("%s-%d.archive", bot, version), Body: resp.Body}
	// The server must not choose a directory.
	if _, params, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition")); err == nil && params["filename"] == filepath.Base(params["filename"]) {
		u.Name = params["filename"]
	}
	return u, nil
}

// History returns how the matches on a ladder changed the rating of a version. It returns at most limit changes,
// evenly spaced over the matches. Version 0 means the version with which the bot plays or, if there is none, the
// latest one.
func (c *Client) History(ctx context.Context, bot, ladder string, version, limit int) ([]wire.Change, error) {
	page, err := get[wire.Page[wire.Change]](ctx, c, "/bots"+part(bot)+"/history", values("ladder", ladder, "version", positive(version), "limit", strconv.Itoa(limit)))
	return page.Items, err
}

// Stages returns the stages that a version passed after its upload (unpack, build, check, trial), without their
// logs.
func (c *Client) Stages(ctx context.Context, bot string, version int) ([]wire.Stage, error) {
	page, err := get[wire.Page[wire.Stage]](ctx, c, "/bots"+part(bot)+"/versions"+number(int64(version))+"/logs", nil)
	return page.Items, err
}

// Stage returns a stage of the checks of a version, with its log. stage is the name of the stage, such as "build".
func (c *Client) Stage(ctx context.Context, bot string, version int, stage string) (wire.Stage, error) {
	return get[wire.Stage](ctx, c, "/bots"+part(bot)+"/versions"+number(int64(version))+"/logs"+part(stage), nil)
}

// MatchFilter selects matches. A field that is empty or 0 does not restrict them.
type MatchFilter struct {
	Ladder, Bot, State string
	Version            int // number of a version of Bot
}

// Matches yields the matches that f selects, the newest first.
func (c *Client) Matches(ctx context.Context, f MatchFilter) iter.Seq2[wire.Match, error] {
	return pages[wire.Match](ctx, c, "/matches", values("ladder", f.Ladder, "bot", f.Bot, "version", positive(f.Version), "state", f.State))
}

// Match returns a match and its rating changes.
func (c *Client) Match(ctx context.Context, id int64) (wire.Match, error) {
	return get[wire.Match](ctx, c, "/matches"+number(id), nil)
}

// Games yields the games of a match.
func (c *Client) Games(ctx context.Context, match int64) iter.Seq2[wire.Game, error] {
	return pages[wire.Game](ctx, c, "/matches"+number(match)+"/games", nil)
}

// AskMatch requests the unrated match that m describes, and returns the match. It does not wait until the match is
// played.
func (c *Client) AskMatch(ctx context.Context, m wire.AskedMatch) (wire.Match, error) {
	return post[wire.Match](ctx, c, "/matches", m)
}

// CancelMatch cancels a match that is not over.
func (c *Client) CancelMatch(ctx context.Context, match int64) (wire.Match, error) {
	return read[wire.Match](ctx, c, request{method: http.MethodPost, path: "/matches" + number(match) + "/cancel"})
}

// Replay returns the replay of a game, byte for byte.
func (c *Client) Replay(ctx context.Context, game int64) ([]byte, error) {
	return c.bytes(ctx, "/games"+number(game)+"/replay")
}

// GameLog returns what the bot at a seat wrote to standard error in a game. The bot must belong to the user.
func (c *Client) GameLog(ctx context.Context, game int64, seat int) ([]byte, error) {
	return c.bytes(ctx, "/games"+number(game)+"/logs"+number(int64(seat)))
}

func (c *Client) bytes(ctx context.Context, path string) ([]byte, error) {
	resp, err := c.do(ctx, request{method: http.MethodGet, path: path})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("server: %s: the answer is incomplete: %w: try again", c.URL, err)
	}
	return data, nil
}

// ReplaysAfter yields the replays of a ladder and a bot, from the oldest to the newest. If ladder or bot is "", the
// replays of all ladders or of all bots are included. It begins after the replay with the given cursor, or with the
// first replay if cursor is "". If the connection breaks, it requests the rest.
func (c *Client) ReplaysAfter(ctx context.Context, cursor, ladder, bot string) iter.Seq2[wire.ReplayLine, error] {
	return func(yield func(wire.ReplayLine, error) bool) {
		failures := 0
		for {
			before := cursor
			err := c.lines(ctx, "/replays", values("after", cursor, "ladder", ladder, "bot", bot), func(line wire.ReplayLine) bool {
				cursor = line.Cursor
				return yield(line, nil)
			})
			switch {
			case err == errStopped:
				return
			case err != nil && (Status(err) != 0 || ctx.Err() != nil):
				yield(wire.ReplayLine{}, err)
				return
			case err != nil:
				if failures++; cursor != before {
					failures = 1
				}
				if failures > c.Retries {
					yield(wire.ReplayLine{}, err)
					return
				}
			case cursor == before:
				return
			}
		}
	}
}

// MatchReplays yields the replays of a match, sorted by deal and then by rotation (seating).
func (c *Client) MatchReplays(ctx context.Context, match int64) iter.Seq2[wire.ReplayLine, error] {
	return func(yield func(wire.ReplayLine, error) bool) {
		err := c.lines(ctx, "/matches"+number(match)+"/replays", nil, func(line wire.ReplayLine) bool { return yield(line, nil) })
		if err != nil && err != errStopped {
			yield(wire.ReplayLine{}, err)
		}
	}
}

// errStopped ends a stream when the function that receives its items wants no more.
var errStopped = fmt.Errorf("client: stopped")

// lines requests a stream of replays and passes every line to the function each. If the function returns false, lines
// stops and returns errStopped. An incomplete last line is an error.
func (c *Client) lines(ctx context.Context, path string, query url.Values, each func(wire.ReplayLine) bool) error {
	resp, err := c.do(ctx, request{method: http.MethodGet, path: path, query: query, header: http.Header{"Accept": {"application/x-ndjson"}}})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	in := bufio.NewReaderSize(resp.Body, 64<<10)
	for {
		data, err := in.ReadBytes('\n')
		if err == io.EOF && len(data) == 0 {
			return nil
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("server: %s: the stream of replays was interrupted: %w", c.URL, err)
		}
		var line wire.ReplayLine
		if err := json.Unmarshal(data, &line); err != nil {
			return fmt.Errorf("server: %s: a line of replays cannot be read: %w", c.URL, err)
		}
		if !each(line) {
			return errStopped
		}
	}
}

// Submit uploads a bot: an archive of its directory or, if file is not "", a single file with that name. bot is the
// name of the bot; if it is "", the manifest in the archive gives the name. body returns the content and its size in
// bytes; it is called for each attempt to upload.
func (c *Client) Submit(ctx context.Context, bot, file string, body func() (io.Reader, int64)) (wire.Submission, error) {
	return read[wire.Submission](ctx, c, request{method: http.MethodPost, path: "/submissions", query: values("bot", bot, "file", file), body: body, kind: "application/octet-stream", notIdempotent: true})
}

// Submission returns the state of a submission, the build and checks of an uploaded version, without waiting.
func (c *Client) Submission(ctx context.Context, id int64) (wire.Submission, error) {
	return get[wire.Submission](ctx, c, "/submissions"+number(id), nil)
}

// CancelSubmission cancels the submission of a version that still waits in the queue.
func (c *Client) CancelSubmission(ctx context.Context, id int64) (wire.Submission, error) {
	return read[wire.Submission](ctx, c, request{method: http.MethodDelete, path: "/submissions" + number(id)})
}

// followWait is how long a request of AwaitChange waits for a change.
const followWait = 30 * time.Second

// Follow yields the state of a submission (the build and checks of an uploaded version) at once and after every
// change, until the submission is done.
func (c *Client) Follow(ctx context.Context, id int64) iter.Seq2[wire.Submission, error] {
	return func(yield func(wire.Submission, error) bool) {
		tag := ""
		for {
			s, next, err := c.AwaitChange(ctx, id, tag)
			if err != nil {
				yield(s, err)
				return
			}
			if next != tag && !yield(s, nil) || next != tag && s.Done {
				return
			}
			tag = next
		}
	}
}

// AwaitChange waits until the state of a submission differs from the one with the ETag tag. It returns the new state,
// and the new ETag as next. If tag is "", it returns the current state at once. If nothing changes within followWait,
// s is zero and next is tag.
func (c *Client) AwaitChange(ctx context.Context, id int64, tag string) (s wire.Submission, next string, err error) {
	q := request{method: http.MethodGet, path: "/submissions" + number(id)}
	if tag != "" {
		q.query = values("wait", followWait.String())
		q.header = http.Header{"If-None-Match": {tag}}
	}
	resp, err := c.do(ctx, q)
	if err != nil {
		return s, "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusNotModified {
		return s, tag, nil
	}
	if err := json.NewDecoder(resp.Body).Decode(&s); err != nil {
		return s, "", fmt.Errorf("server: %s: the answer cannot be read: %w", c.URL, err)
	}
	return s, resp.Header.Get("ETag"), nil
}

// Register opens an account for a person, and returns it with the key of its first token. invite is the code
// of an invite, or "" if the server needs none.
func (c *Client) Register(ctx context.Context, name, invite string) (wire.Registered, error) {
	return post[wire.Registered](ctx, c, "/people", wire.Registration{Name: name, Invite: invite})
}

// Me returns the person and the token that the client uses.
func (c *Client) Me(ctx context.Context) (wire.Me, error) { return get[wire.Me](ctx, c, "/me", nil) }

// Messages yields the user's messages, the oldest first.
func (c *Client) Messages(ctx context.Context) iter.Seq2[wire.Message, error] {
	return pages[wire.Message](ctx, c, "/me/messages", nil)
}

// MarkMessagesSeen marks the messages with IDs from first to last as read.
func (c *Client) MarkMessagesSeen(ctx context.Context, first, last int64) error {
	data, err := json.Marshal(wire.SeenMessages{First: first, Last: last})
	if err != nil {
		return err
	}
	return c.doWithoutAnswer(ctx, request{method: http.MethodPut, path: "/me/messages/seen", kind: "application/json", body: Body(data)})
}

// RevokeOwnToken revokes the token that the client uses.
func (c *Client) RevokeOwnToken(ctx context.Context) error { return c.sendDelete(ctx, "/me/token") }

// Tokens returns the user's tokens.
func (c *Client) Tokens(ctx context.Context) ([]wire.Token, error) {
	page, err := get[wire.Page[wire.Token]](ctx, c, "/tokens", nil)
	return page.Items, err
}

// AddToken creates a token of the user and returns it with its key.
func (c *Client) AddToken(ctx context.Context, t wire.NewToken) (wire.MadeToken, error) {
	return post[wire.MadeToken](ctx, c, "/tokens", t)
}

// RevokeToken revokes a token of the user.
func (c *Client) RevokeToken(ctx context.Context, id int64) error {
	return c.sendDelete(ctx, "/tokens"+number(id))
}

// Invites returns the invites that can still be used.
func (c *Client) Invites(ctx context.Context) ([]wire.Invite, error) {
	page, err := get[wire.Page[wire.Invite]](ctx, c, "/admin/invites", nil)
	return page.Items, err
}

// AddInvite creates an invite and returns it with its code. One person may join with the code. Only admins may call
// AddInvite.
func (c *Client) AddInvite(ctx context.Context, i wire.NewInvite) (wire.MadeInvite, error) {
	return post[wire.MadeInvite](ctx, c, "/admin/invites", i)
}

// RevokeInvite revokes an invite that nobody has used.
func (c *Client) RevokeInvite(ctx context.Context, id int64) error {
	return c.sendDelete(ctx, "/admin/invites"+number(id))
}

// People yields all people in the order in which they joined.
func (c *Client) People(ctx context.Context) iter.Seq2[wire.Person, error] {
	return pages[wire.Person](ctx, c, "/admin/people", nil)
}

// Machines yields the machines that play matches with the details for admins; the server's own machine is
// first. Only admins may call it.
func (c *Client) Machines(ctx context.Context) iter.Seq2[wire.Machine, error] {
	return pages[wire.Machine](ctx, c, "/admin/machines", nil)
}

// AddSignInLink creates a link with which the person called name can sign in once. Only admins may call it.
func (c *Client) AddSignInLink(ctx context.Context, name string) (wire.SignInLink, error) {
	return read[wire.SignInLink](ctx, c, request{method: http.MethodPost, path: "/admin/people" + part(name) + "/sign-in"})
}

// Block blocks the person with this name. If out is false, it unblocks the person. Only admins may call it.
func (c *Client) Block(ctx context.Context, name string, out bool) (wire.Person, error) {
	method := http.MethodDelete
	if out {
		method = http.MethodPut
	}
	return read[wire.Person](ctx, c, request{method: method, path: "/admin/people" + part(name) + "/block"})
}

// PauseLadder pauses the ladder with this name if paused is true, so that no new match of it starts, and resumes the
// ladder if paused is false. Only admins may call it.
func (c *Client) PauseLadder(ctx context.Context, name string, paused bool) (wire.Ladder, error) {
	method := http.MethodPut
	if !paused {
		method = http.MethodDelete
	}
	return read[wire.Ladder](ctx, c, request{method: method, path: "/admin/ladders" + part(name) + "/pause"})
}

// Ban takes a bot off all ladders, and sends its owner a message with reason. The owner cannot bring the bot back
// before Unban. Only admins may call Ban.
func (c *Client) Ban(ctx context.Context, bot, reason string) (wire.Bot, error) {
	return send[wire.Bot](ctx, c, request{method: http.MethodPut, path: "/admin/bots" + part(bot) + "/ban"}, wire.Ban{Reason: reason})
}

// Unban undoes Ban. The bot stays withdrawn until its owner brings it back. Only admins may call it.
func (c *Client) Unban(ctx context.Context, bot string) (wire.Bot, error) {
	return read[wire.Bot](ctx, c, request{method: http.MethodDelete, path: "/admin/bots" + part(bot) + "/ban"})
}

// Body returns a function that reads data, for the parameter body of Client.Submit.
func Body(data []byte) func() (io.Reader, int64) {
	return func() (io.Reader, int64) { return bytes.NewReader(data), int64(len(data)) }
}
