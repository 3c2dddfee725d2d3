package remote

import "github.com/timba-arena/timba/ladder"

// Bots returns how many bots the registry knows.
func (h *Registry) Bots() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.bots)
}

// Come reserves a place for a bot that is about to connect.
func (h *Registry) Come(v ladder.Version) error {
	ask := connectRequest{instance: "0123456789abcdef"}
	ask.Bot = v.Bot
	_, err := h.reservePlace(v, ask)
	return err
}
