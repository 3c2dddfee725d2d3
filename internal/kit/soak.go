//go:build soak

package kit

// Soak reports whether tests make all cases that they have, as in `make soak`.
const Soak = true
