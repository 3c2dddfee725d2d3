package refereetest

import (
	"bytes"
	"sync"
)

// Output is what a program or a log has written so far. Several goroutines may write and read it.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String returns what has been written.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Reset forgets what has been written.
func (o *Output) Reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Reset()
}
