package middleware

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// addressOf returns the address of the client of r, for limits and the log. If the connection comes from a trusted
// proxy, it is the last address in X-Forwarded-For that is not a trusted proxy. An IPv6 address is truncated to its
// /64 network, which usually belongs to one customer. If the connection has no address, it returns the zero Addr.
func (m *Middleware) addressOf(r *http.Request) netip.Addr {
	port, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{} // a Unix socket has no address
	}
	addr := port.Addr().Unmap()
	if m.isTrusted(addr) {
		hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		for i := len(hops) - 1; i >= 0; i-- {
			hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
			if err != nil {
				break
			}
			addr = hop.Unmap()
			if !m.isTrusted(addr) {
				break
			}
		}
	}
	if addr.Is6() {
		if p, err := addr.WithZone("").Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return addr
}

func (m *Middleware) isTrusted(addr netip.Addr) bool {
	return slices.ContainsFunc(m.Proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// isSecure reports whether the client uses https: either to this server, or to a trusted proxy that says so
// in the header X-Forwarded-Proto.
func (m *Middleware) isSecure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	port, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && m.isTrusted(port.Addr().Unmap()) && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}
