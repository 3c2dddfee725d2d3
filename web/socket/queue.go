package socket

import (
	"bytes"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Message is a message to any number of connections, encoded once.
type Message struct {
	frame *websocket.PreparedMessage
	data  []byte
}

// Same reports whether two messages are the same. Either may be nil.
func (m *Message) Same(n *Message) bool {
	return m != nil && n != nil && bytes.Equal(m.data, n.data)
}

func (m *Message) size() int64 { return int64(len(m.data)) }

// Encode returns a document as a message.
func Encode(doc any) (*Message, error) {
	data, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	p, err := websocket.NewPreparedMessage(websocket.TextMessage, data)
	return &Message{p, data}, err
}

// QueueLimits bound the messages that wait to be sent.
type QueueLimits struct {
	Length int   // messages that wait for one connection
	Each   int64 // bytes that wait for one connection
	All    int64 // bytes that wait for all connections together
}

// Queues are the queues of all connections that watch.
type Queues struct {
	QueueLimits
	waiting, count atomic.Int64
}

// Waiting returns how many bytes wait for all connections.
func (a *Queues) Waiting() int64 { return a.waiting.Load() }

// Queue sends messages over a connection. Who queues one never waits: a connection for which too
// much waits is ended with CloseSlow.
type Queue struct {
	queues   *Queues
	messages chan *Message
	waiting  atomic.Int64 // bytes

	mu    sync.Mutex
	conn  *Conn // nil before Run
	ended bool

	ending  chan struct{} // closed when the connection is to end, with what follows
	endOnce sync.Once
	code    int
	text    string
}

// New returns a queue for a connection that is yet to come; see Run.
func (a *Queues) New() *Queue {
	return &Queue{queues: a, messages: make(chan *Message, a.Length), ending: make(chan struct{})}
}

// End ends the connection with a code, also one that is yet to come. It does not wait.
func (q *Queue) End(code int, text string) {
	q.endOnce.Do(func() {
		q.code, q.text = code, text
		close(q.ending)
		time.AfterFunc(endTime, func() { // where a write goes on
			q.mu.Lock()
			defer q.mu.Unlock()
			if q.conn != nil {
				q.conn.ws.Close()
			}
		})
	})
}

// Put queues a message, or ends the connection if too much waits.
func (q *Queue) Put(m *Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return
	}
	if q.tooMuch(m.size()) {
		q.End(CloseSlow, "slow")
		return
	}
	select {
	case q.messages <- m:
		q.addWaiting(m.size())
	default:
		q.End(CloseSlow, "slow")
	}
}

// tooMuch reports whether a message of that size is too much beside what waits. Where too much
// waits for all connections, it is too much for those that have more than an equal share of it: who
// takes what comes is not ended for others who do not.
func (q *Queue) tooMuch(size int64) bool {
	own, share := q.waiting.Load(), q.queues.All/max(1, q.queues.count.Load())
	return own+size > q.queues.Each || own > 0 && own+size > share && q.queues.waiting.Load()+size > q.queues.All
}

// addWaiting counts bytes that wait, or, below 0, that wait no more.
func (q *Queue) addWaiting(size int64) {
	q.waiting.Add(size)
	q.queues.waiting.Add(size)
}

// Run sends what is queued over a connection until that ends.
func (q *Queue) Run(c *Conn) {
	q.mu.Lock()
	q.conn = c
	q.mu.Unlock()
	q.queues.count.Add(1)
	defer q.finish()
	for {
		select {
		case <-q.ending:
			return
		default:
		}
		select {
		case <-q.ending:
			return
		case m := <-q.messages:
			err := c.writeMessage(m)
			q.addWaiting(-m.size())
			if err != nil {
				q.End(CloseSlow, "slow")
				return
			}
		}
	}
}

func (c *Conn) writeMessage(m *Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ws.SetWriteDeadline(time.Now().Add(c.Limits.Send))
	return c.ws.WritePreparedMessage(m.frame)
}

// finish closes the connection. Nothing waits for it any more.
func (q *Queue) finish() {
	q.conn.Shut(q.code, q.text)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.queues.count.Add(-1)
	for {
		select {
		case m := <-q.messages:
			q.addWaiting(-m.size())
		default:
			return
		}
	}
}
