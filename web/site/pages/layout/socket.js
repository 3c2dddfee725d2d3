// The socket of a page that watches. It comes back by itself, and asks again for all topics.

const first = 500, most = 30000; // milliseconds between two tries
const patience = 30000; // milliseconds after which a page that was refused is asked for again
const closeRefused = 4002; // the session of the page has ended

export class Socket {
  // changed is called with whether the socket is connected.
  constructor(changed = () => {}) {
    Object.assign(this, { changed, topics: new Map(), tries: 0, timer: null });
    window.addEventListener('online', () => this.hurry());
    window.addEventListener('pageshow', (event) => { if (event.persisted) this.hurry(); });
    this.connect();
  }

  // watch has messages about a topic handed to heard. more() gives what to ask with: the position
  // that the page has.
  watch(topic, heard, more = () => ({})) {
    this.topics.set(topic, { heard, more });
    if (this.open()) this.ask(topic);
  }

  leave(topic) {
    if (this.topics.delete(topic) && this.open()) this.socket.send(JSON.stringify({ leave: topic }));
  }

  // again asks anew, from what more() gives.
  again(topic) {
    if (!this.open() || !this.topics.has(topic)) return;
    this.socket.send(JSON.stringify({ leave: topic }));
    this.ask(topic);
  }

  open() { return this.socket?.readyState === WebSocket.OPEN; }

  ask(topic) { this.socket.send(JSON.stringify({ watch: topic, ...this.topics.get(topic).more() })); }

  connect() {
    this.timer = null;
    const socket = new WebSocket(new URL('/ws/watch', location.href.replace(/^http/, 'ws')));
    this.socket = socket;
    socket.addEventListener('open', () => {
      for (const topic of this.topics.keys()) this.ask(topic);
      this.changed(true);
    });
    socket.addEventListener('message', (event) => {
      this.tries = 0;
      const doc = JSON.parse(event.data);
      if (doc.refused) setTimeout(() => this.again(doc.topic), patience * (0.5 + Math.random()));
      else this.topics.get(doc.topic)?.heard(doc);
    });
    socket.addEventListener('close', (event) => {
      this.changed(false);
      if (event.code === closeRefused) signedOut();
      const wait = Math.min(most, first * 2 ** this.tries);
      this.tries += 1;
      this.timer = setTimeout(() => this.connect(), wait * (0.5 + Math.random()));
    });
  }

  // hurry connects now, where it would wait.
  hurry() {
    if (this.timer === null) return;
    clearTimeout(this.timer);
    this.connect();
  }
}

// signedOut says so in the head of the page, which goes on for somebody who is not signed in.
function signedOut() {
  const notice = document.getElementById('ended');
  if (!notice) return;
  notice.parentElement.replaceChildren(notice);
  notice.hidden = false;
}
