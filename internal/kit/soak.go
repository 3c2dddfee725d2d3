//go:build soak

package kit

// Soak reports whether tests run all their cases, as in `make soak`.
const Soak = true
