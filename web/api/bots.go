package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/service"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/web/middleware"
	"github.com/timba-arena/timba/web/wire"
)

// personNames caches the names of people, by ID, while one document is made. The ID 0 means nobody and has the name
// "".
type personNames struct {
	store *store.Store
	byID  map[int64]string
}

func (a *API) newPersonNames() *personNames { return &personNames{a.Store, map[int64]string{0: ""}} }

func (n *personNames) name(ctx context.Context, id int64) (string, error) {
	if name, ok := n.byID[id]; ok {
		return name, nil
	}
	p, err := n.store.People.Find(ctx, id)
	n.byID[id] = p.Name
	return p.Name, err
}

// versionDoc returns the JSON document of the API about v. If isOwner is set, it includes the progress of the
// build and checks, and the reason of a failure, which may quote the output of the build.
func (a *API) versionDoc(v ladder.Version, isOwner bool) wire.Version {
	doc := wire.Version{
		Bot: v.Bot, Version: v.Number, Label: v.Label, State: string(v.State), Language: v.Language, Games: v.Games, Remote: v.Remote, Online: v.Remote && a.Online(v.ID),
		BundleSHA256: v.Bundle, SHA256: v.Hash, CreatedAt: v.CreatedAt, WentLiveAt: v.LiveAt, EndedAt: v.EndedAt,
	}
	if isOwner {
		doc.Reason = v.Reason.String()
		if !v.IsHouse() && !v.Remote {
			doc.Submission = v.ID
		}
	}
	return doc
}

type botsQuery struct {
	Owner string `query:"owner" length:"64" doc:"Only bots of this person."`
	House *bool  `query:"house" doc:"Only house bots, or only others."`
	paging
}

func (a *API) getBots(r *http.Request, q botsQuery) (page wire.Page[wire.Bot], err error) {
	found, err := a.findBots(r.Context(), q.Owner, q.House, int64(q.From), q.Limit+1)
	if err != nil {
		return page, err
	}
	return a.botPage(r, found, q.Limit)
}

// botPage returns a page of a list of bots. found has the bots of the page and, if another page follows, one more:
// the caller has searched for limit+1 bots. The page has at most limit bots and, if there are more, the cursor of the
// next page.
func (a *API) botPage(r *http.Request, found []ladder.Bot, limit int) (page wire.Page[wire.Bot], err error) {
	if len(found) > limit {
		found = found[:limit]
		page.Next = middleware.CursorOf("bot", found[limit-1].ID)
	}
	page.Items, err = a.botDocs(r, found)
	return page, err
}

// findBots returns up to n bots, in the order of their IDs. after is an ID: only bots with greater IDs are returned.
// If owner is not "", it returns only the bots of that person. If house is true, it returns only bots that are part
// of timba; if house is false, only others; if it is nil, both.
func (a *API) findBots(ctx context.Context, owner string, house *bool, after int64, n int) ([]ladder.Bot, error) {
	if owner == "" {
		return a.Store.Bots.List(ctx, house, after, n)
	}
	p, err := a.Store.People.FindByName(ctx, owner)
	if err != nil || house != nil && *house { // nobody owns a house bot
		return nil, err
	}
	return a.Store.Bots.ListOwn(ctx, p.ID, after, n)
}

// BotDoc returns the JSON document of the API about b for its owner. Owner, Live, Latest and Standings are empty.
func BotDoc(b ladder.Bot) wire.Bot {
	return wire.Bot{
		Name: b.Name, House: b.IsHouse(), CreatedAt: b.CreatedAt, WithdrawnAt: b.WithdrawnAt, BannedAt: b.BannedAt, BanReason: b.BanReason,
	}
}

func (a *API) botDocs(r *http.Request, bots []ladder.Bot) ([]wire.Bot, error) {
	ids := make([]int64, len(bots))
	for i, b := range bots {
		ids[i] = b.ID
	}
	last, err := a.Store.Versions.LastOfBots(r.Context(), ids)
	if err != nil {
		return nil, err
	}
	people, docs := a.newPersonNames(), make([]wire.Bot, len(bots))
	for i, b := range bots {
		doc := BotDoc(b)
		if !middleware.RequestOf(r).Owns(b.PersonID) {
			doc.BanReason = ""
		}
		if doc.Owner, err = people.name(r.Context(), b.PersonID); err != nil {
			return nil, err
		}
		if v, ok := last[b.ID]; ok {
			latest := a.versionDoc(v, middleware.RequestOf(r).Owns(b.PersonID))
			doc.Latest = &latest
			if doc.Live, err = a.liveNumber(r.Context(), v); err != nil {
				return nil, err
			}
		}
		docs[i] = doc
	}
	return docs, nil
}

// liveNumber returns the number of the version with which a bot plays, or 0 if it does not play. last is the bot's
// latest version.
func (a *API) liveNumber(ctx context.Context, last ladder.Version) (int, error) {
	if last.State == ladder.Live {
		return last.Number, nil
	}
	all, err := a.Store.Versions.List(ctx, last.BotID, 0, -1)
	for _, v := range all {
		if v.State == ladder.Live {
			return v.Number, nil
		}
	}
	return 0, err
}

func (a *API) getBot(r *http.Request) (doc wire.Bot, err error) {
	b, err := a.Store.Bots.Find(r.Context(), r.PathValue("bot"))
	if err != nil {
		return doc, err
	}
	return a.botDoc(r, b)
}

// botDoc returns the JSON document of the API about b, with its places on the ladders.
func (a *API) botDoc(r *http.Request, b ladder.Bot) (doc wire.Bot, err error) {
	docs, err := a.botDocs(r, []ladder.Bot{b})
	if err != nil {
		return doc, err
	}
	places, err := a.Store.Ladders.StandingsOf(r.Context(), b.ID)
	for _, s := range places {
		doc := standingDoc(s)
		doc.Ladder = s.Ladder
		docs[0].Standings = append(docs[0].Standings, doc)
	}
	return docs[0], err
}

func (a *API) getVersions(r *http.Request, p paging) (page wire.Page[wire.Version], err error) {
	b, err := a.Store.Bots.Find(r.Context(), r.PathValue("bot"))
	if err != nil {
		return page, err
	}
	list, err := a.Store.Versions.List(r.Context(), b.ID, int(p.From), p.Limit+1)
	if len(list) > p.Limit {
		list = list[:p.Limit]
		page.Next = middleware.CursorOf("version", int64(list[p.Limit-1].Number))
	}
	page.Items = Docs(list, func(v ladder.Version) wire.Version { return a.versionDoc(v, middleware.RequestOf(r).Owns(b.PersonID)) })
	return page, err
}

func (a *API) getVersion(r *http.Request) (doc wire.Version, err error) {
	n, err := middleware.PathID(r, "version")
	if err != nil {
		return doc, err
	}
	v, err := a.Service.FindVersion(r.Context(), r.PathValue("bot"), int(n))
	return a.versionDoc(v, middleware.RequestOf(r).Owns(v.Owner)), err
}

func stageDoc(s ladder.Stage, log bool) wire.Stage {
	doc := wire.Stage{Name: s.Name, OK: s.OK, StartedAt: s.StartedAt, EndedAt: s.EndedAt, Summary: s.Summary.String()}
	if log {
		doc.Log = s.Log
	}
	return doc
}

// ownStages returns the stages (unpack, build, check, trial) of the version in the path. It fails unless the
// owner or an admin asks.
func (a *API) ownStages(r *http.Request) ([]ladder.Stage, error) {
	number, err := middleware.PathID(r, "version")
	if err != nil {
		return nil, err
	}
	return a.Service.Stages(r.Context(), middleware.RequestOf(r).Actor, r.PathValue("bot"), int(number))
}

func (a *API) getStages(r *http.Request) (wire.List[wire.Stage], error) {
	stages, err := a.ownStages(r)
	return wire.List[wire.Stage]{Items: Docs(stages, func(s ladder.Stage) wire.Stage { return stageDoc(s, false) })}, err
}

func (a *API) getStageLog(w http.ResponseWriter, r *http.Request) error {
	kind, err := preferredType(r, "application/json", "text/plain")
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

type historyQuery struct {
	Ladder  string        `query:"ladder" required:"true" ref:"Name"`
	Version versionNumber `query:"version" doc:"By default the live version, or if there is none, the last."`
	Limit   int           `query:"limit" min:"1" max:"5000" default:"500"`
}

func (q *historyQuery) check(p *middleware.Query) {
	if q.Ladder == "" {
		p.Fail("ladder", phrase.New(ladder.HintLadders), "is missing")
	}
}

func (a *API) getHistory(r *http.Request, q historyQuery) (list wire.List[wire.Change], err error) {
	v, err := a.Service.FindVersion(r.Context(), r.PathValue("bot"), int(q.Version))
	if err != nil {
		return list, err
	}
	all, err := a.Store.Ladders.ChangeHistory(r.Context(), q.Ladder, v.ID, q.Limit)
	list.Items = Docs(all, func(c ladder.Change) wire.Change {
		doc := changeDoc(c, v.Bot, v.Number)
		doc.Match, doc.Number = c.MatchID, c.Number
		return doc
	})
	return list, err
}

func (a *API) putLive(_ http.ResponseWriter, r *http.Request, asked wire.LiveVersion) (wire.Bot, error) {
	return a.changeBot(func(ctx context.Context, by service.Actor, bot string) (ladder.Bot, error) {
		return a.Service.UseVersion(ctx, by, bot, asked.Version)
	})(r)
}

// putBan lets an admin ban the bot in the path.
func (a *API) putBan(_ http.ResponseWriter, r *http.Request, asked wire.Ban) (wire.Bot, error) {
	return a.changeBot(func(ctx context.Context, by service.Actor, bot string) (ladder.Bot, error) {
		return a.Service.BanBot(ctx, by, bot, asked.Reason)
	})(r)
}

// changeBot returns a handler that calls change with the sender of the request and the name of the bot in the path,
// and answers with the changed bot.
func (a *API) changeBot(change func(context.Context, service.Actor, string) (ladder.Bot, error)) func(*http.Request) (wire.Bot, error) {
	return func(r *http.Request) (doc wire.Bot, err error) {
		b, err := change(r.Context(), middleware.RequestOf(r).Actor, r.PathValue("bot"))
		if err != nil {
			return doc, err
		}
		return a.botDoc(r, b)
	}
}
