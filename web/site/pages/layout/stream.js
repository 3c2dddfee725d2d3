// The numbered lines of a seat over a WebSocket: lines come, and answers go back. Both ends number
// their lines, so that a new connection, or the page loaded again, goes on where the last one
// broke: see Go's package socket.

const closeEnded = 1000, closeTaken = 4001, closeRefused = 4002;

export class Stream {
  // read is called with each line, and shown when all that came together are read. told is called
  // with what is said of the connection: 'lost', 'away', 'taken', 'out', 'over', or null for nothing, and
  // ended with the page that the address has once the lines have ended.
  constructor(path, { read, shown, told, ended }) {
    Object.assign(this, {
      path, read, shown, told, ended,
      got: 0, // lines that have come
      answers: [], first: 0, // lines of ours that the server may not have, and the number of the first
      known: 0, // lines of ours that the server had when this page connected
      asked: 0, // lines that the server has asked for
      tries: 0,
      leaving: false, // a form of the page is sent
    });
    document.addEventListener('submit', () => { this.leaving = true; });
    this.connect();
  }

  connect() {
    this.fresh = true; // no frame of this connection has come
    this.socket = new WebSocket(new URL(this.path, location.href.replace(/^http/, 'ws')));
    this.socket.addEventListener('open', () => this.send({ ack: this.got }));
    this.socket.addEventListener('message', (event) => this.take(JSON.parse(event.data)));
    this.socket.addEventListener('close', (event) => this.closed(event.code));
  }

  send(frame) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  closed(code) {
    if (this.leaving) return;
    if (code === closeTaken || code === closeRefused) {
      this.told(code === closeTaken ? 'taken' : 'out');
      return;
    }
    if (code !== closeEnded) this.told('lost');
    else if (this.tries > 0) this.told('away');
    this.tries += 1;
    if (code === closeEnded && this.tries === 1) this.again(code);
    else setTimeout(() => this.again(code), Math.min(8000, 250 * 2 ** this.tries));
  }

  // again fetches the page anew where the game is over, loads it where that may be, and else connects.
  // While the server does not answer it tries again: the page stays.
  async again(code) {
    if (code === closeEnded || this.tries > 1) {
      try {
        const answer = await fetch(location.href);
        if (answer.status < 500) {
          if (code === closeEnded) this.ended(await answer.text());
          else location.reload();
          return;
        }
      } catch { /* the server cannot be reached */ }
    }
    if (code === closeEnded) this.closed(code);
    else this.connect();
  }

  take(frame) {
    if (this.fresh) {
      this.tries = 0;
      this.told(null);
      if (this.got === 0 && this.answers.length === 0) this.known = this.first = frame.ack;
    }
    this.answers = this.answers.slice(Math.max(0, frame.ack - this.first));
    this.first = Math.max(this.first, frame.ack);
    if (this.fresh && this.answers.length > 0) this.send({ n: this.first, lines: this.answers, ack: this.got });
    this.fresh = false;
    const lines = (frame.lines ?? []).slice(Math.max(0, this.got - (frame.n ?? 0)));
    lines.forEach(this.read);
    if (lines.length > 0) {
      this.got += lines.length;
      this.send({ ack: this.got });
      this.shown();
    }
    if (frame.end) this.told('over');
  }

  // answered reports whether an earlier page has answered what is asked for now, and passes over it.
  answered() {
    if (this.asked >= this.known) return false;
    this.asked += 1;
    return true;
  }

  // answer sends a line that was asked for, unless an earlier page has answered.
  answer(line) {
    if (this.answered()) return;
    this.asked += 1;
    this.answers.push(line);
    this.send({ n: this.first + this.answers.length - 1, lines: [line], ack: this.got });
  }
}
