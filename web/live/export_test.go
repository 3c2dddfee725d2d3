package live

// Waiting returns how many bytes wait for all sockets.
func (h *Hub) Waiting() int64 { return h.queues.Waiting() }
