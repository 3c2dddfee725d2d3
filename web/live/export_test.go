package live

// Sockets returns how many sockets watch.
func (h *Hub) Sockets() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sockets)
}

// Waiting returns how many bytes wait for all sockets.
func (h *Hub) Waiting() int64 { return h.queues.Waiting() }
