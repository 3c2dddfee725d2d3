package socket

import (
	"bytes"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// Broadcast is a message that is encoded once, to be sent over any number of connections.
type Broadcast struct {
	frame *websocket.PreparedMessage
	data  []byte
}

// Same reports whether m and n have the same content. It is false if either is nil.
func (m *Broadcast) Same(n *Broadcast) bool {
	return m != nil && n != nil && bytes.Equal(m.data, n.data)
}

func (m *Broadcast) size() int64 { return int64(len(m.data)) }

// Encode returns doc as a JSON message that can be sent over many connections.
func Encode(doc any) (*Broadcast, error) {
	data, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	p, err := websocket.NewPreparedMessage(websocket.TextMessage, data)
	return &Broadcast{p, data}, err
}

// QueueLimits bound the messages that wait to be sent. A connection that would exceed them is closed.
type QueueLimits struct {
	Length int   // messages for one connection
	Each   int64 // bytes for one connection
	All    int64 // bytes for all connections together
}

// Queues creates queues of messages, one for each connection. All queues have the same QueueLimits, and Queues counts
// the messages that wait in all of them.
type Queues struct {
	QueueLimits
	waiting, count atomic.Int64
}

// Waiting returns the number of bytes that wait in all queues together.
func (a *Queues) Waiting() int64 { return a.waiting.Load() }

// Queue sends messages over one connection. Put never blocks: if too many messages wait, the connection is
// closed with the code CloseSlow.
type Queue struct {
	queues   *Queues
	messages chan *Broadcast
	waiting  atomic.Int64 // in bytes

	mu    sync.Mutex
	conn  *Conn // nil before Run
	ended bool

	ending  chan struct{} // closed when the connection has to close with code and text
	endOnce sync.Once
	code    int
	text    string
}

// New returns an empty queue. Messages may be put into it at once; Run sends them.
func (a *Queues) New() *Queue {
	return &Queue{queues: a, messages: make(chan *Broadcast, a.Length), ending: make(chan struct{})}
}

// End makes Run close the connection with a close code (RFC 6455, section 7.4); text is the reason that the other end
// gets. End does not wait, and may be called before Run. Only the first call has an effect.
func (q *Queue) End(code int, text string) {
	q.endOnce.Do(func() {
		q.code, q.text = code, text
		close(q.ending)
		time.AfterFunc(closeTime, func() { // in case a write still blocks
			q.mu.Lock()
			defer q.mu.Unlock()
			if q.conn != nil {
				q.conn.ws.Close()
			}
		})
	})
}

// Put adds a message to the queue, without blocking. If the limits do not allow the message, Put ends the
// connection instead. After the end of the connection it does nothing.
func (q *Queue) Put(m *Broadcast) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended {
		return
	}
	if q.exceedsLimits(m.size()) {
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

// exceedsLimits reports whether q would exceed a limit if a message of size bytes were added. One limit is for each
// queue, the other for all queues together. If all queues together would exceed theirs, only queues that have more
// than an equal share of it count as exceeding it. Slow receivers therefore do not affect fast ones.
func (q *Queue) exceedsLimits(size int64) bool {
	own, share := q.waiting.Load(), q.queues.All/max(1, q.queues.count.Load())
	return own+size > q.queues.Each || own > 0 && own+size > share && q.queues.waiting.Load()+size > q.queues.All
}

func (q *Queue) addWaiting(size int64) {
	q.waiting.Add(size)
	q.queues.waiting.Add(size)
}

// Run sends the queued messages over c until End is called or a write fails, and closes c. It must be called once.
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

func (c *Conn) writeMessage(m *Broadcast) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ws.SetWriteDeadline(time.Now().Add(c.Limits.Send))
	return c.ws.WritePreparedMessage(m.frame)
}

// finish closes the connection and drops the messages that still wait.
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
