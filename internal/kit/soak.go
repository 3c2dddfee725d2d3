//go:build soak

package kit

// Soak reports whether tests do all that they can, for `make soak`.
const Soak = true
