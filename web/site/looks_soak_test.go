//go:build soak

package site_test

// allLooks makes examine look at each page in each window.
const allLooks = true
