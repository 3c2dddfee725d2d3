package site

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// answerTime is how long the site remembers the answer to a form in formAnswers, and a secret in secretNotes.
const answerTime = 10 * time.Minute

// maxAnswers limits three caches: the remembered answers, the sessions with secrets, and the challenges for passkeys.
// Each keeps the maxAnswers most recently used entries.
const maxAnswers = 10_000

// formAnswers remembers the answers to forms that create something. If a form arrives twice, for example after a
// double click, it then creates only one thing, and both requests get the same answer. Such a form has a field "once"
// with a random value. Only redirects are remembered, so that the form can be sent again after an error.
type formAnswers struct {
	mu   sync.Mutex // held while an answer is found or added
	list *lru.Cache[[sha256.Size]byte, *formAnswer]
}

// formAnswer is the answer to one form. It is complete when done is closed.
type formAnswer struct {
	done      chan struct{} // closed when the first request has been answered
	claimedAt time.Time     // when the first request came
	location  string        // where the answer redirects to; "" if it was no redirect
	cookies   []string      // the values of Set-Cookie
}

func newFormAnswers() *formAnswers {
	list, _ := lru.New[[sha256.Size]byte, *formAnswer](maxAnswers) // the size is positive
	return &formAnswers{list: list}
}

// claim returns the answer to the form with the given key. If isFirst is true, the caller must complete the answer
// and call settle. If it is false, another request does that; it closes a.done when the answer is complete.
func (f *formAnswers) claim(key [sha256.Size]byte, now time.Time) (a *formAnswer, isFirst bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a, found := f.list.Get(key); found && now.Sub(a.claimedAt) < answerTime {
		return a, false
	}
	a = &formAnswer{done: make(chan struct{}), claimedAt: now}
	f.list.Add(key, a)
	return a, true
}

// settle closes a.done, for which other requests wait. If the answer is not a redirect, settle also removes it, so
// that the form can be sent again.
func (f *formAnswers) settle(key [sha256.Size]byte, a *formAnswer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if current, _ := f.list.Peek(key); a.location == "" && current == a {
		f.list.Remove(key)
	}
	close(a.done)
}

// serveOnce calls serve for a form with a field "once". If the same form with the same fields has arrived before, it
// waits for the answer to that request and repeats it instead. The first request is served to its end even if its
// client has disconnected, because browsers abandon the first request of a double click.
func (v *visit) serveOnce(serve func(*visit) error) error {
	key := sha256.Sum256([]byte(v.Route + "\n" + v.r.URL.Path + "\n" + v.r.PostForm.Encode()))
	for {
		a, isFirst := v.site.answers.claim(key, v.site.Service.Now())
		if isFirst {
			defer v.site.answers.settle(key, a)
			v.r = v.r.WithContext(context.WithoutCancel(v.r.Context()))
			err := serve(v)
			if h := v.w.Header(); err == nil {
				a.location, a.cookies = h.Get("Location"), slices.Clone(h.Values("Set-Cookie"))
			}
			return err
		}
		select {
		case <-a.done:
		case <-v.ctx().Done():
			return v.ctx().Err()
		}
		if a.location != "" {
			for _, c := range a.cookies {
				v.w.Header().Add("Set-Cookie", c)
			}
			return v.redirect(a.location)
		}
	}
}

// secret is a text such as that of a token, of which the store has only a hash.
type secret struct {
	page   string // the name of the page that shows it
	id     int64  // of what it belongs to, such as a token
	name   string // of the person to whom it belongs, if that is not the person who has made it
	text   string
	madeAt time.Time
}

// maxSecrets is how many secrets of a session the site remembers. The oldest are forgotten first.
const maxSecrets = 20

// secretNotes remembers the secrets that browser sessions have created within answerTime. A person who has missed the
// answer with a secret can so still see it. The secrets are only in memory.
type secretNotes struct {
	mu   sync.Mutex
	list *lru.Cache[int64, []secret] // by the ID of the session
}

func newSecretNotes() *secretNotes {
	list, _ := lru.New[int64, []secret](maxAnswers) // the size is positive
	return &secretNotes{list: list}
}

// keepSecret remembers x as a secret that the session with this ID has just created.
func (s *Site) keepSecret(session int64, x secret) {
	s.secrets.mu.Lock()
	defer s.secrets.mu.Unlock()
	x.madeAt = s.Service.Now()
	list, _ := s.secrets.list.Get(session)
	list = append([]secret{x}, list...)
	s.secrets.list.Add(session, list[:min(len(list), maxSecrets)])
}

// secretsOf returns the secrets for the named page that the visitor's session has created within answerTime, the
// newest first. If there are any, it also tells the browser not to store the page.
func (v *visit) secretsOf(page string) (list []secret) {
	notes := v.site.secrets
	notes.mu.Lock()
	defer notes.mu.Unlock()
	if v.Session == 0 || v.Person.ID == 0 {
		return nil
	}
	all, _ := notes.list.Get(v.Session)
	for _, x := range all {
		if x.page == page && v.site.Service.Now().Sub(x.madeAt) < answerTime {
			list = append(list, x)
		}
	}
	if list != nil {
		v.w.Header().Set("Cache-Control", "no-store")
	}
	return list
}
