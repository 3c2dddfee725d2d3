package api

import (
	"net/http"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/web/wire"
)

// route is a route of the API with its texts for the OpenAPI document. The fields owner and admin are only
// for the document; package service checks who may do what.
type route struct {
	pattern string       // the method and the path in the form of a pattern of http.ServeMux
	scope   ladder.Scope // the scope that the token needs; "" if the request needs no token
	owner   bool         // only the owner of the resource and admins may do it
	admin   bool         // only admins may do it
	endpoint

	id          string // the operationId in the document
	tags        string // the tags of the operation (see groups), separated by spaces
	summary     string
	description string // details beyond the summary; may be ""
	success     string // the description of a success
	headers     string // the names of headers of a success, separated by spaces

	uploads     []content // the possible contents of a body that is not a JSON document
	notModified string    // the description of the status 304; "" if the route never answers it
}

// routes returns all routes of the API. It includes /metrics only if a.Metrics is set.
func (a *API) routes() []route {
	all := []route{
		{
			pattern: "GET /healthz", id: "health", tags: "operation",
			summary: "Whether the server can work",
			success: "The server can work.", endpoint: answer(a.getHealth),
		},
		{
			pattern: "GET /api/v1/openapi.json", id: "document", tags: "operation",
			summary: "This document",
			success: "OpenAPI 3.1.", endpoint: plain(a.getDocument, content{kind: "application/json", schema: anyObject}),
		},

		{
			pattern: "GET /api/v1/ladders", id: "ladders", tags: "ladders",
			summary: "All ladders, including inactive ones",
			success: "The ladders, in display order.", endpoint: answer(a.getLadders),
		},
		{
			pattern: "GET /api/v1/ladders/{ladder}", id: "ladder", tags: "ladders",
			summary: "A ladder",
			success: "The ladder.", endpoint: answer(a.getLadder),
		},
		{
			pattern: "GET /api/v1/ladders/{ladder}/standings", id: "standings", tags: "ladders",
			summary:     "The standings of a ladder",
			description: "By the fit, the best first; before a version's first fit by its Elo. Only versions that still play; with `active=false` all versions that ever played.",
			success:     "A page.", endpoint: query("place", a.getStandings),
		},
		{
			pattern: "GET /api/v1/ladders/{ladder}/matches", id: "ladderMatches", tags: "ladders matches",
			summary: "A ladder's matches, the newest first",
			success: "A page, without attempts.", endpoint: query("match", a.getLadderMatches),
		},

		{
			pattern: "GET /api/v1/bots", id: "bots", tags: "bots",
			summary: "The bots, the oldest first",
			success: "A page.", endpoint: query("bot", a.getBots),
		},
		{
			pattern: "GET /api/v1/bots/{bot}", id: "bot", tags: "bots",
			summary: "A bot and its places on the ladders",
			success: "The bot.", endpoint: answer(a.getBot),
		},
		{
			pattern: "GET /api/v1/bots/{bot}/versions", id: "versions", tags: "bots",
			summary: "A bot's versions, the newest first",
			success: "A page.", endpoint: query("version", a.getVersions),
		},
		{
			pattern: "GET /api/v1/bots/{bot}/versions/{version}", id: "version", tags: "bots",
			summary: "A version",
			success: "The version.", endpoint: answer(a.getVersion),
		},
		{
			pattern: "GET /api/v1/bots/{bot}/versions/{version}/upload", id: "upload", tags: "bots submissions",
			scope: ladder.ScopeRead, owner: true,
			summary:     "The upload of a version, byte for byte",
			description: "The server does not keep the uploads of versions that failed before they were built.",
			success:     "The archive, unchanged. `Content-Disposition` has a file name with the suffix of its format.",
			headers:     "Content-Disposition", endpoint: plain(a.Middleware.SendUpload, bytesContent("application/octet-stream")),
		},
		{
			pattern: "GET /api/v1/bots/{bot}/versions/{version}/logs", id: "stages", tags: "bots submissions",
			scope: ladder.ScopeRead, owner: true,
			summary: "The stages of a version's submission, without their logs",
			success: "The stages, in their order.", endpoint: answer(a.getStages),
		},
		{
			pattern: "GET /api/v1/bots/{bot}/versions/{version}/logs/{stage}", id: "stageLog", tags: "bots submissions",
			scope: ladder.ScopeRead, owner: true,
			summary: "What a stage printed",
			success: "The log as JSON, or only its text with `Accept: text/plain`.", endpoint: plain(a.getStageLog, jsonContent[wire.Stage](), textContent("text/plain")),
		},
		{
			pattern: "GET /api/v1/bots/{bot}/matches", id: "botMatches", tags: "bots matches",
			summary: "A bot's matches, the newest first",
			success: "A page, without attempts.", endpoint: query("match", a.getBotMatches),
		},
		{
			pattern: "GET /api/v1/bots/{bot}/history", id: "history", tags: "bots",
			summary:     "The rating change of each match, for one version on one ladder, the oldest first",
			description: "If there are more than `limit` matches, the answer has some of them, evenly spaced, including the last one.",
			success:     "The changes.", endpoint: query("", a.getHistory),
		},
		{
			pattern: "PUT /api/v1/bots/{bot}/withdrawal", id: "withdraw", tags: "bots",
			scope: ladder.ScopeSubmit, owner: true,
			summary: "Withdraw a bot",
			description: "The bot plays no more; its history, its ratings and its name stay. Its live version becomes `retired`. While a " +
				"submission of the bot is on its way, the answer is a conflict.",
			success: "The bot.", endpoint: answer(a.changeBot(a.Service.WithdrawBot)),
		},
		{
			pattern: "DELETE /api/v1/bots/{bot}/withdrawal", id: "restore", tags: "bots",
			scope: ladder.ScopeSubmit, owner: true,
			summary:     "Bring a withdrawn bot back",
			description: "The version that was live when the bot was withdrawn is live again, with its rating.",
			success:     "The bot.", endpoint: answer(a.changeBot(a.Service.RestoreBot)),
		},
		{
			pattern: "PUT /api/v1/bots/{bot}/live", id: "useVersion", tags: "bots",
			scope: ladder.ScopeSubmit, owner: true,
			summary: "Make an earlier version live again",
			description: "The version must have been live before, and continues with its own rating. The version that was live becomes " +
				"`retired`. A suspended version is a conflict.",
			success: "The bot.", endpoint: withBody(http.StatusOK, a.putLive),
		},

		{
			pattern: "GET /api/v1/matches", id: "matches", tags: "matches",
			summary: "Matches, the newest first",
			success: "A page, without attempts.", endpoint: query("match", a.getMatches),
		},
		{
			pattern: "POST /api/v1/matches", id: "askMatch", tags: "matches",
			scope:       ladder.ScopeSubmit,
			summary:     "Ask for an unrated match between any bots",
			description: "The match is played when its turn comes, and changes no rating. `ladder` or `game` says what is played.",
			success:     "The match waits to be played.",
			headers:     "Location", endpoint: withBody(http.StatusAccepted, a.postMatch),
		},
		{
			pattern: "GET /api/v1/matches/{match}", id: "match", tags: "matches",
			summary:     "A match, its commitments, and its rating changes",
			description: "A seed is published when its attempt is over; `commitment` is its SHA-256, public before the first deal.",
			success:     "The match.", endpoint: answer(a.getMatch),
		},
		{
			pattern: "POST /api/v1/matches/{match}/cancel", id: "cancelMatch", tags: "matches",
			scope: ladder.ScopeSubmit, owner: true,
			summary:     "Cancel a match that waits or runs",
			description: "The person who asked for a match may cancel it; an admin may cancel any. It is then `dropped`, and `reason` says why.",
			success:     "The match.", endpoint: answer(a.postMatchCancel),
		},
		{
			pattern: "GET /api/v1/matches/{match}/games", id: "games", tags: "matches",
			summary: "The games of a match, by deal and rotation",
			success: "A page.", endpoint: query("game", a.getGames),
		},
		{
			pattern: "GET /api/v1/matches/{match}/replays", id: "matchReplays", tags: "matches replays",
			summary:     "All replays of a match",
			description: "One `ReplayLine` per line, or with `Accept: application/zip` an archive of the documents, byte for byte.",
			success:     "The replays, by deal and rotation.", endpoint: plain(a.getMatchReplays, textContent(ndjson), bytesContent("application/zip")),
		},
		{
			pattern: "GET /api/v1/games/{game}", id: "game", tags: "matches",
			summary: "The result of a game",
			success: "The game.", endpoint: answer(a.getGame),
		},
		{
			pattern: "GET /api/v1/games/{game}/replay", id: "replay", tags: "replays",
			summary:     "The replay of a game, byte for byte",
			description: "The document of SPEC.md, \"Replays\". It never changes.",
			success:     "The document.", notModified: "The document has not changed.",
			headers: "ETag", endpoint: plain(a.getReplay, content{kind: "application/json", schema: replaySchema}),
		},
		{
			pattern: "GET /api/v1/games/{game}/logs/{seat}", id: "gameLog", tags: "matches",
			scope: ladder.ScopeRead, owner: true,
			summary: "What a bot wrote to standard error in a game",
			success: "The stored part of the text.", endpoint: plain(a.getGameLog, textContent("text/plain")),
		},
		{
			pattern: "GET /api/v1/replays", id: "replays", tags: "replays",
			summary: "All replays after a cursor, for training",
			description: "One `ReplayLine` per line, the oldest first, at most `limit` of them. Every line has a cursor that points " +
				"behind it: if a stream breaks, resume after the last complete line. An empty answer means that there are no newer replays yet.",
			success: "The replays.", endpoint: raw("replay", a.getReplays, textContent(ndjson)),
		},
		{
			pattern: "GET /api/v1/machines", id: "machines", tags: "machines",
			summary:     "The connected machines, and what they play",
			description: "Machines that are not connected are left out, and so is `operator`.",
			success:     "A page, by name, the server's own first.", endpoint: a.getMachines(false),
		},

		{
			pattern: "POST /api/v1/submissions", id: "submit", tags: "submissions",
			scope:   ladder.ScopeSubmit,
			summary: "Submit a version of a bot",
			description: "The body is a .zip, .tar.gz, .tar.zst or .tar of the bot's directory, or a single file: then `file` is its name, " +
				"which tells the language (`bot.py`, `bot.c`). The content tells the format, whatever `Content-Type` says. The bot's name is `bot`, or by default the `name` in its manifest, or the " +
				"file's name without its end. The version then goes through its stages; `Location` is the address of the " +
				"submission.",
			uploads: []content{textContent("text/plain"), bytesContent("application/gzip"), bytesContent("application/zip"), bytesContent("application/octet-stream")},
			success: "The version is queued.",
			headers: "Location", endpoint: raw("", a.postSubmission, jsonContent[wire.Submission]()).withStatus(http.StatusAccepted),
		},
		{
			pattern: "GET /api/v1/submissions/{submission}", id: "submission", tags: "submissions",
			scope: ladder.ScopeRead, owner: true,
			summary: "The state of a submission",
			description: "With `wait` the server answers when the submission is done, at the latest after that time. With `wait` and " +
				"`If-None-Match` it answers as soon as anything differs from that ETag; if nothing does, the answer is 304.",
			success: "The state and the stages, with their logs.", notModified: "Nothing has changed.",
			headers: "ETag", endpoint: raw("", a.getSubmission, jsonContent[wire.Submission]()),
		},
		{
			pattern: "DELETE /api/v1/submissions/{submission}", id: "cancel", tags: "submissions",
			scope: ladder.ScopeSubmit, owner: true,
			summary:     "Cancel a submission that has not begun",
			description: "Its version then counts as failed.",
			success:     "The submission.", endpoint: answer(a.deleteSubmission),
		},

		{
			pattern: "POST /api/v1/people", id: "register", tags: "people",
			summary:     "Join the competition",
			description: "Needs the code of an invite, unless registration is open. The answer contains a token of scope `all`.",
			success:     "The person, and the key of the token, which is shown only once.",
			endpoint:    rawBody[wire.Registration, wire.Registered](http.StatusCreated, a.postPerson),
		},
		{
			pattern: "GET /api/v1/me", id: "me", tags: "people",
			scope:   ladder.ScopeRead,
			summary: "The owner of the token",
			success: "The person and the token.", endpoint: answer(a.getMe),
		},
		{
			pattern: "GET /api/v1/me/bots", id: "myBots", tags: "people bots",
			scope:   ladder.ScopeRead,
			summary: "Your own bots",
			success: "A page.", endpoint: query("bot", a.getMyBots),
		},
		{
			pattern: "GET /api/v1/me/messages", id: "messages", tags: "people",
			scope:       ladder.ScopeRead,
			summary:     "Your messages, the oldest first",
			description: "For example, that a stage failed or a bot was suspended. The last page also has `next`, to ask for new messages later.",
			success:     "A page.", endpoint: query("message", a.getMessages),
		},
		{
			pattern: "PUT /api/v1/me/messages/seen", id: "seeMessages", tags: "people",
			scope:       ladder.ScopeRead,
			summary:     "Mark messages as read",
			description: "All messages whose IDs are from `first` to `last`. Unread messages are counted on the pages of the site.",
			success:     "They are read.", endpoint: withBody(http.StatusNoContent, a.putSeen),
		},
		{
			pattern: "DELETE /api/v1/me/token", id: "forgetToken", tags: "people",
			scope:   ladder.ScopeRead,
			summary: "Revoke the token of this request",
			success: "The token is revoked.", endpoint: noContent(a.deleteMyToken),
		},
		{
			pattern: "GET /api/v1/tokens", id: "tokens", tags: "people",
			scope:   ladder.ScopeAll,
			summary: "Your own tokens, without their keys",
			success: "The tokens.", endpoint: answer(a.getTokens),
		},
		{
			pattern: "POST /api/v1/tokens", id: "addToken", tags: "people",
			scope:   ladder.ScopeAll,
			summary: "Create a token",
			success: "The token, and its key, which is shown only once.", endpoint: withBody(http.StatusCreated, a.postToken),
		},
		{
			pattern: "DELETE /api/v1/tokens/{token}", id: "revokeToken", tags: "people",
			scope: ladder.ScopeAll, owner: true,
			summary: "Revoke one of your own tokens",
			success: "The token is revoked.", endpoint: revoke("token", a.Service.RevokeToken),
		},

		{
			pattern: "GET /api/v1/admin/invites", id: "invites", tags: "admin",
			scope: ladder.ScopeAll, admin: true,
			summary: "Invites that can still be used, without their codes",
			success: "The invites.", endpoint: list("invite", a.Service.Invites, InviteDoc),
		},
		{
			pattern: "POST /api/v1/admin/invites", id: "addInvite", tags: "admin",
			scope: ladder.ScopeAll, admin: true,
			summary: "Create an invite",
			success: "The invite, and its code, which is shown only once.", endpoint: withBody(http.StatusCreated, a.postInvite),
		},
		{
			pattern: "DELETE /api/v1/admin/invites/{invite}", id: "revokeInvite", tags: "admin",
			scope: ladder.ScopeAll, admin: true,
			summary: "Revoke an unused invite",
			success: "The invite is revoked.", endpoint: revoke("invite", a.Service.RevokeInvite),
		},
		{
			pattern: "GET /api/v1/admin/people", id: "people", tags: "admin",
			scope: ladder.ScopeAll, admin: true,
			summary: "All people",
			success: "A page, in the order in which they joined.", endpoint: list("person", a.Service.People, PersonDoc),
		},
		{
			pattern: "GET /api/v1/admin/machines", id: "adminMachines", tags: "admin",
			scope: ladder.ScopeAll, admin: true,
			summary:     "All machines, also those that are not connected",
			description: "Each has `operator`.",
			success:     "A page, by name, the server's own first.", endpoint: a.getMachines(true),
		},
		{
			pattern: "PUT /api/v1/admin/people/{person}/block", id: "block", tags: "admin",
			scope: ladder.ScopeAll, admin: true,
			summary:     "Block a person",
			description: "Their tokens stop working. Their bots no longer play.",
			success:     "The person.", endpoint: a.setBlocked(true),
		},
		{
			pattern: "DELETE /api/v1/admin/people/{person}/block", id: "unblock", tags: "admin",
			scope: ladder.ScopeAll, admin: true,
			summary: "Unblock a person",
			success: "The person.", endpoint: a.setBlocked(false),
		},
		{
			pattern: "POST /api/v1/admin/people/{person}/sign-in", id: "addSignInLink", tags: "admin",
			scope: ladder.ScopeAll, admin: true,
			summary:     "Create a link with which a person signs in once",
			description: "For a person who has lost all tokens. It is valid for 24 hours. A link that was made before and not used is no longer valid.",
			success:     "The code of the link, which is shown only once.", endpoint: answer(a.postSignInLink),
		},
		{
			pattern: "PUT /api/v1/admin/ladders/{ladder}/pause", id: "pauseLadder", tags: "admin",
			scope: ladder.ScopeAll, admin: true,
			summary:     "Pause a ladder",
			description: "No new match of it starts. Matches that run or were interrupted are played to their end.",
			success:     "The ladder.", endpoint: a.setPaused(true),
		},
		{
			pattern: "DELETE /api/v1/admin/ladders/{ladder}/pause", id: "resumeLadder", tags: "admin",
			scope: ladder.ScopeAll, admin: true,
			summary: "Resume a ladder",
			success: "The ladder.", endpoint: a.setPaused(false),
		},
		{
			pattern: "PUT /api/v1/admin/bots/{bot}/ban", id: "ban", tags: "admin",
			scope: ladder.ScopeAll, admin: true,
			summary:     "Ban a bot",
			description: "The bot plays no more, its submission ends, and its owner cannot bring it back or submit to it. The owner gets a message with the reason.",
			success:     "The bot.", endpoint: withBody(http.StatusOK, a.putBan),
		},
		{
			pattern: "DELETE /api/v1/admin/bots/{bot}/ban", id: "unban", tags: "admin",
			scope: ladder.ScopeAll, admin: true,
			summary:     "Unban a bot",
			description: "The bot stays withdrawn until its owner brings it back.",
			success:     "The bot.", endpoint: answer(a.changeBot(a.Service.UnbanBot)),
		},
	}
	if a.Metrics != nil {
		all = append(all, route{
			pattern: "GET /metrics", id: "metrics", tags: "operation",
			summary: "Metrics for Prometheus",
			success: "The metrics, in the text format of Prometheus.",
			endpoint: endpoint{contents: []content{textContent("text/plain")}, serve: func(w http.ResponseWriter, r *http.Request) error {
				a.Metrics.ServeHTTP(w, r)
				return nil
			}},
		})
	}
	return all
}
