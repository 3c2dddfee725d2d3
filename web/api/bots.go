package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/bundle"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/api/wire"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/parameters"
)

// names is a cache of the names of people.
type names struct {
	store *store.Store
	known map[int64]string
}

func (a *API) names() *names { return &names{a.Store, map[int64]string{0: ""}} }

func (n *names) of(ctx context.Context, id int64) (string, error) {
	if name, ok := n.known[id]; ok {
		return name, nil
	}
	p, err := n.store.Person(ctx, id)
	n.known[id] = p.Name
	return p.Name, err
}

// versionDoc returns the document of a version. Only its owner sees the reason, which may quote
// the output of the build.
func (a *API) versionDoc(v ladder.Version, own bool) wire.Version {
	doc := wire.Version{
		Bot: v.Bot, Version: v.Number, Label: v.Label, State: string(v.State), Language: v.Language, Games: v.Games, Remote: v.Remote, Online: v.Remote && a.Online(v.ID),
		Bundle: v.Bundle, SHA256: v.Hash, Created: v.Created, Began: v.Began, Ended: v.Ended,
	}
	if own {
		doc.Reason = v.Reason
		if !v.House() && !v.Remote {
			doc.Submission = v.ID
		}
	}
	return doc
}

func (a *API) bots(w http.ResponseWriter, r *http.Request) error {
	q := parameters.New(r)
	owner, house := q.Text("owner"), q.Flag("house")
	after, limit := q.CursorID("cursor", "bot"), q.Limit()
	if err := q.Done(); err != nil {
		return err
	}
	found, err := a.findBots(r.Context(), owner, house, after, limit+1)
	if err != nil {
		return err
	}
	return a.respondBots(w, r, found, limit)
}

// respondBots answers with a page of bots, of which one more than the limit was looked for.
func (a *API) respondBots(w http.ResponseWriter, r *http.Request, found []ladder.Bot, limit int) (err error) {
	page := wire.Page[wire.Bot]{}
	if len(found) > limit {
		found = found[:limit]
		page.Next = parameters.CursorOf("bot", found[limit-1].ID)
	}
	if page.Items, err = a.botDocs(r, found); err != nil {
		return err
	}
	return respond(w, http.StatusOK, page)
}

// findBots returns at most n bots after one: of an owner if owner is not "", and if house is not nil only house bots or
// only others.
func (a *API) findBots(ctx context.Context, owner string, house *bool, after int64, n int) ([]ladder.Bot, error) {
	if owner == "" {
		return a.Store.Bots(ctx, house, after, n)
	}
	p, err := a.Store.PersonByName(ctx, owner)
	if err != nil || house != nil && *house { // which nobody owns
		return nil, err
	}
	return a.Store.OwnBots(ctx, p.ID, after, n)
}

func (a *API) botDocs(r *http.Request, bots []ladder.Bot) ([]wire.Bot, error) {
	ids := make([]int64, len(bots))
	for i, b := range bots {
		ids[i] = b.ID
	}
	last, err := a.Store.LastVersions(r.Context(), ids)
	if err != nil {
		return nil, err
	}
	people, docs := a.names(), make([]wire.Bot, len(bots))
	for i, b := range bots {
		doc := wire.Bot{Name: b.Name, House: b.House(), Created: b.Created, Withdrawn: b.Withdrawn}
		if doc.Owner, err = people.of(r.Context(), b.PersonID); err != nil {
			return nil, err
		}
		if v, ok := last[b.ID]; ok {
			latest := a.versionDoc(v, middleware.Of(r).Owns(b.PersonID))
			doc.Latest = &latest
			if doc.Live, err = a.live(r.Context(), v); err != nil {
				return nil, err
			}
		}
		docs[i] = doc
	}
	return docs, nil
}

// live returns the number of the live version of the bot with a last version; 0 if there is
// none.
func (a *API) live(ctx context.Context, last ladder.Version) (int, error) {
	if last.State == ladder.Live {
		return last.Number, nil
	}
	all, err := a.Store.Versions(ctx, last.BotID)
	for _, v := range all {
		if v.State == ladder.Live {
			return v.Number, nil
		}
	}
	return 0, err
}

func (a *API) bot(w http.ResponseWriter, r *http.Request) error {
	b, err := a.Store.Bot(r.Context(), r.PathValue("bot"))
	if err != nil {
		return err
	}
	return a.answerBot(w, r, b)
}

// answerBot answers with a bot and its places.
func (a *API) answerBot(w http.ResponseWriter, r *http.Request, b ladder.Bot) error {
	docs, err := a.botDocs(r, []ladder.Bot{b})
	if err != nil {
		return err
	}
	places, err := a.Store.StandingsOf(r.Context(), b.ID)
	if err != nil {
		return err
	}
	for _, s := range places {
		doc := standingDoc(s)
		doc.Ladder = s.Ladder
		docs[0].Standings = append(docs[0].Standings, doc)
	}
	return respond(w, http.StatusOK, docs[0])
}

func (a *API) versions(w http.ResponseWriter, r *http.Request) error {
	q := parameters.New(r)
	from, limit := q.CursorID("cursor", "version"), q.Limit()
	if err := q.Done(); err != nil {
		return err
	}
	b, err := a.Store.Bot(r.Context(), r.PathValue("bot"))
	if err != nil {
		return err
	}
	list, err := a.Store.VersionsBefore(r.Context(), b.ID, int(from), limit+1)
	if err != nil {
		return err
	}
	var page wire.Page[wire.Version]
	if len(list) > limit {
		list = list[:limit]
		page.Next = parameters.CursorOf("version", int64(list[limit-1].Number))
	}
	page.Items = Docs(list, func(v ladder.Version) wire.Version { return a.versionDoc(v, middleware.Of(r).Owns(b.PersonID)) })
	return respond(w, http.StatusOK, page)
}

func (a *API) version(w http.ResponseWriter, r *http.Request) error {
	n, err := parameters.PathID(r, "version")
	if err != nil {
		return err
	}
	v, err := a.Service.FindVersion(r.Context(), r.PathValue("bot"), int(n))
	if err != nil {
		return err
	}
	return respond(w, http.StatusOK, a.versionDoc(v, middleware.Of(r).Owns(v.Owner)))
}

func stageDoc(s ladder.Stage, log bool) wire.Stage {
	doc := wire.Stage{Name: s.Name, OK: s.OK, Began: s.Began, Ended: s.Ended, Summary: s.Summary}
	if log {
		doc.Log = s.Log
	}
	return doc
}

// ownStages returns the stages of the version in the path, or an error unless the request is by
// its owner.
func (a *API) ownStages(r *http.Request) ([]ladder.Stage, error) {
	number, err := parameters.PathID(r, "version")
	if err != nil {
		return nil, err
	}
	return a.Service.Stages(r.Context(), middleware.Of(r).Actor, r.PathValue("bot"), int(number))
}

func (a *API) stages(w http.ResponseWriter, r *http.Request) error {
	stages, err := a.ownStages(r)
	if err != nil {
		return err
	}
	return respond(w, http.StatusOK, wire.Page[wire.Stage]{Items: Docs(stages, func(s ladder.Stage) wire.Stage { return stageDoc(s, false) })})
}

func (a *API) stageLog(w http.ResponseWriter, r *http.Request) error {
	kind, err := accepts(r, "application/json", "text/plain")
	if err != nil {
		return err
	}
	stages, err := a.ownStages(r)
	if err != nil {
		return err
	}
	name := r.PathValue("stage")
	i := slices.IndexFunc(stages, func(s ladder.Stage) bool { return s.Name == name })
	if i < 0 {
		return ladder.Errorf(ladder.NotFound, "try unpack, build, check or trial; a stage has a log once it has begun", "stage %q has no log", ladder.Clip(name))
	}
	if kind == "text/plain" {
		return text(w, []byte(stages[i].Log))
	}
	return respond(w, http.StatusOK, stageDoc(stages[i], true))
}

// mostChanges is the largest number of changes in a history.
const mostChanges = 5000

// history answers with the rating changes of one version on one ladder.
func (a *API) history(w http.ResponseWriter, r *http.Request) error {
	q := parameters.New(r)
	on, number := q.Text("ladder"), int(q.Number("version", 1, service.MaxVersion, 0))
	limit := int(q.Number("limit", 1, mostChanges, 500))
	if on == "" {
		q.Fail("ladder", "timba standings lists them", "is missing")
	}
	if err := q.Done(); err != nil {
		return err
	}
	v, err := a.Service.FindVersion(r.Context(), r.PathValue("bot"), number)
	if err != nil {
		return err
	}
	all, err := a.Store.History(r.Context(), on, v.ID, limit)
	if err != nil {
		return err
	}
	page := wire.Page[wire.Change]{Items: make([]wire.Change, len(all))}
	for i, c := range all {
		page.Items[i] = changeDoc(c, v.Bot, v.Number)
		page.Items[i].Match, page.Items[i].Number = c.MatchID, c.Number
	}
	return respond(w, http.StatusOK, page)
}

// use makes an earlier version live again.
func (a *API) use(w http.ResponseWriter, r *http.Request) error {
	var asked wire.LiveVersion
	if err := decode(w, r, &asked); err != nil {
		return err
	}
	return a.changeBot(func(ctx context.Context, by service.Actor, bot string) (ladder.Bot, error) {
		return a.Service.Use(ctx, by, bot, asked.Version)
	})(w, r)
}

// changeBot changes the bot that the path names, and answers with what it is then.
func (a *API) changeBot(change func(context.Context, service.Actor, string) (ladder.Bot, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		b, err := change(r.Context(), middleware.Of(r).Actor, r.PathValue("bot"))
		if err != nil {
			return err
		}
		return a.answerBot(w, r, b)
	}
}

// upload answers with the upload of a version, byte for byte as it came.
func (a *API) upload(w http.ResponseWriter, r *http.Request) error {
	number, err := parameters.PathID(r, "version")
	if err != nil {
		return err
	}
	f, v, err := a.Service.Upload(r.Context(), middleware.Of(r).Actor, r.PathValue("bot"), int(number))
	if err != nil {
		return err
	}
	defer f.Close()
	suffix, err := bundle.Suffix(f)
	if err != nil {
		return &ladder.Error{Code: ladder.Unavailable, Text: "the upload cannot be read", Hint: "try again later", Err: err}
	}
	leave, err := a.Middleware.Stream(r)
	if err != nil {
		return err
	}
	defer leave()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s-%d%s"`, v.Bot, v.Number, suffix))
	_, err = io.Copy(w, f)
	return gone(err)
}
