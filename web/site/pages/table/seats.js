// The list of the seats of a table, as the server writes it.

// clocksIn returns the times that a document's list has of those with a clock, as it shows them: a map by seat.
export function clocksIn(document) {
  return new Map([...document.querySelectorAll('.seats [data-seat] .clock')].map((clock) => [Number(clock.closest('[data-seat]').dataset.seat), clock.textContent]));
}

// tagsIn returns what a document's list says of those who are away, or have resigned: a map by seat.
export function tagsIn(document) {
  const tagged = [...document.querySelectorAll('.seats [data-seat]:has(.tag)')];
  return new Map(tagged.map((li) => [Number(li.dataset.seat), li.querySelector('.tag').textContent]));
}
