package remote

// Bots returns how many bots the hub knows.
func (h *Hub) Bots() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.bots)
}
