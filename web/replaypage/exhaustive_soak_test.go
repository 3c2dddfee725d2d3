//go:build soak

package replaypage

// exhaustive makes tests in the browser go through more games, positions and windows.
const exhaustive = true
