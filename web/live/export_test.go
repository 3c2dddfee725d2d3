package live

// Waiting returns the number of bytes that wait for all sockets.
func (h *Hub) Waiting() int64 { return h.queues.Waiting() }
