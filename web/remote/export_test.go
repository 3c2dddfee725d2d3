package remote

// Tokens returns how many tokens the hub has.
func (h *Hub) Tokens() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.bots)
}
