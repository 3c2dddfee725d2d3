//go:build race

package sandbox

// raceDetector reports whether the test binary has the race detector in it, whose
// memory no limit of data has room for.
const raceDetector = true
