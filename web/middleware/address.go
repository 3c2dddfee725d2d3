package middleware

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/timba-arena/timba/ladder"
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
		header := strings.Join(r.Header.Values("X-Forwarded-For"), ",")
		client, ok := m.lastClient(header)
		if !ok {
			m.reportProxy(r, addr, header)
		}
		if client.IsValid() {
			addr = client
		}
	}
	if addr.Is6() {
		if p, err := addr.WithZone("").Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return addr
}

// lastClient reads header, the value of X-Forwarded-For, from its end. It returns the first address that is not a
// trusted proxy or, if all are trusted, the leftmost address. At an entry that is not an address it stops: ok is
// false, and client is the last address that it has read, or the zero Addr.
func (m *Middleware) lastClient(header string) (client netip.Addr, ok bool) {
	hops := strings.Split(header, ",")
	for _, hop := range slices.Backward(hops) {
		if hop = strings.TrimSpace(hop); hop == "" { // an empty entry of a list means nothing
			continue
		}
		addr, err := parseHop(hop)
		if err != nil {
			return client, false
		}
		if client = addr; !m.isTrusted(addr) {
			break
		}
	}
	return client, client.IsValid()
}

// parseHop parses an entry of X-Forwarded-For: an address, also in brackets or quotes, with or without a port.
func parseHop(text string) (addr netip.Addr, err error) {
	if n := len(text); n > 1 && text[0] == '"' && text[n-1] == '"' {
		text = text[1 : n-1]
	}
	if port, err := netip.ParseAddrPort(text); err == nil {
		addr = port.Addr()
	} else if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
		addr, err = netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil {
			return addr, err
		}
	} else if addr, err = netip.ParseAddr(text); err != nil {
		return addr, err
	}
	return addr.Unmap(), nil
}

// reportProxy logs, once, that a trusted proxy does not tell the addresses of its clients, so that all of them share
// the limits of one address. header is the value of X-Forwarded-For in r. If it is empty, reportProxy logs only if r
// comes from a browser: it may otherwise come from a program on the proxy's machine, such as timba.
func (m *Middleware) reportProxy(r *http.Request, proxy netip.Addr, header string) {
	if header == "" && !strings.HasPrefix(r.UserAgent(), "Mozilla/") {
		return
	}
	m.proxyReport.Do(func() {
		m.Log.Warn("a trusted proxy sends no address of its client that can be read: all its clients share one limit",
			"proxy", proxy.String(), "forwarded_for", ladder.Clip(header), "try", "let the proxy set X-Forwarded-For to the address of its client")
	})
}

func (m *Middleware) isTrusted(addr netip.Addr) bool {
	addr = addr.WithZone("")
	return slices.ContainsFunc(m.Proxies, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// ReadOrigin corrects the host of a request, which a proxy may have replaced. If r comes from a page of this site, it
// returns a copy of r with the host in the header Origin; otherwise it returns r.
//
// A page is of this site if its Origin is the configured address of the site, or if the host in Origin is the
// request's Host, or the X-Forwarded-Host that a trusted proxy has set. A default port makes no difference. A page of
// another site can set neither Host nor X-Forwarded-Host.
func (m *Middleware) ReadOrigin(r *http.Request) *http.Request {
	origin, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || origin.Host == "" || origin.Host == r.Host {
		return r
	}
	hosts := []string{r.Host}
	if port, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && m.isTrusted(port.Addr().Unmap()) {
		hosts = append(hosts, r.Header.Get("X-Forwarded-Host"))
	}
	isOurs := m.Service.Config.Site.URL == origin.Scheme+"://"+origin.Host
	for _, host := range hosts {
		isOurs = isOurs || strings.EqualFold(withoutDefaultPort(host), withoutDefaultPort(origin.Host))
	}
	if !isOurs {
		return r
	}
	own := r.Clone(r.Context())
	own.Host = origin.Host
	return own
}

// withoutDefaultPort returns host without the port 80 or 443. A proxy may add either of them, depending on where TLS
// ends.
func withoutDefaultPort(host string) string {
	return strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
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
