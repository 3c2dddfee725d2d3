package site_test

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/store"
	"github.com/timba-arena/timba/referee"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/match"
	"github.com/timba-arena/timba/web/webtest"
)

// crash returns a player that fails at its first turn after it has written text to standard error.
func crash(text string) webtest.Player {
	return func(lines io.Reader, answers, log io.Writer) error {
		io.WriteString(log, text)
		scan := bufio.NewScanner(lines)
		for scan.Scan() {
			switch word, _, _ := strings.Cut(scan.Text(), " "); word {
			case "timba":
				io.WriteString(answers, "ready\n")
			case "turn":
				return fault.Reason{Kind: fault.Exited, Status: 1}
			case "bye":
				return nil
			}
		}
		return scan.Err()
	}
}

func inEnglish(texts []phrase.Text) (list []string) {
	for _, text := range texts {
		list = append(list, text.String())
	}
	return list
}

// All pages that explain a fault say the same about it. Only its owner sees what the bot wrote to standard
// error, and advice that follows from it.
func TestFaultOnAllPages(t *testing.T) {
	t.Parallel()
	for name, log := range map[string]string{"error": "Traceback (most recent call last):\nKeyError: 'zz'\n", "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := webtest.NewStaticWorld(t, nil)
			v := s.MakeLive("lola", store.BuildInfo{Language: "Python", Command: []string{"python3", "bot.py"}})
			m := s.Play("tebes-4", []int64{v.ID, s.Version("@random")}, map[int64]webtest.Player{v.ID: crash(log)})
			g := kit.Get[[]ladder.FinishedGame](t)(s.Store.Matches.Games(t.Context(), m.ID))[0]
			r := kit.Get[*referee.Replay](t)(referee.DecodeReplay(kit.Get[[]byte](t)(s.Store.Matches.Replay(t.Context(), g.ID))))
			f := r.Faults[0]
			c := match.Contestant{Language: "Python", Sandbox: &match.Sandbox{Limit: s.Ladder.Config.BotLimit()}}.InCompetition(r, f, []byte(log))
			own, other := s.Client(), s.Client()
			s.SignIn(own, s.AdaToken)
			for _, path := range []string{fmt.Sprint("/matches/", m.ID), fmt.Sprint("/games/", g.ID), "/bots/lola"} {
				mine, theirs := html.UnescapeString(s.Get(own, path).Body), html.UnescapeString(s.Get(other, path).Body)
				want := append(inEnglish(f.Reason.Advice(c)), f.TextIn(c).String())
				if log != "" {
					want = append(want, "Traceback")
				}
				requireTexts(t, path+" for the owner", mine, want...)
				c := c
				c.Log = fault.BotLog{Private: true}
				requireTexts(t, path+" for others", theirs, append(inEnglish(f.Reason.Advice(c)), f.Text)...)
				forbidTexts(t, path+" for others", theirs, "KeyError", "it wrote nothing to stderr", "Traceback")
			}
		})
	}
}

// A message keeps its lines, links to its match, is in the reader's language, and counts as unread until its
// page is opened.
func TestMessages(t *testing.T) {
	t.Parallel()
	s := webtest.NewStaticWorld(t, nil)
	v := s.MakeLive("lola", store.BuildInfo{Language: "Python", Command: []string{"python3", "bot.py"}})
	m := s.Play("tebes-4", []int64{v.ID, s.Version("@random")}, map[int64]webtest.Player{v.ID: crash("")})
	kit.Get[bool](t)(s.Store.Versions.Suspend(t.Context(), v.ID, m.ID, phrase.Plain("too many faults\n"+strings.Repeat("a line of its stderr\n", 60)+"the end")))
	own := s.Client()
	s.SignIn(own, s.AdaToken)
	get := func(path, lang string) string { return s.Get(own, path, "Accept-Language", lang).Body }
	if page := get("/", "en"); !strings.Contains(page, "1 unread message<") {
		t.Errorf("the head of the page counts no message: %s", page)
	}
	for lang, text := range map[string]string{"en": "Version 1 of lola is suspended", "ca": "La versió 1 de lola està suspesa", "es": "La versión 1 de lola está suspendida"} {
		for _, path := range []string{"/account", "/bots/lola"} {
			page := get(path, lang)
			requireTexts(t, path+" in "+lang, page, text, "too many faults\na line of its stderr\n", "\nthe end<", fmt.Sprintf(`href="/matches/%d"`, m.ID), fmt.Sprintf(`href="/submissions/%d"`, v.ID))
		}
	}
	if page := get("/account", "en"); strings.Contains(page, "unread message") || strings.Contains(page, `<span class="tag win">new</span>`) {
		t.Errorf("a message that was read is unread: %s", page)
	}
}
