// The list of the seats of a table, as the server writes it.

// tagsIn returns what a document's list says of those who are away, or have resigned: a map by seat.
export function tagsIn(document) {
  const tagged = [...document.querySelectorAll('.seats [data-seat]:has(.tag)')];
  return new Map(tagged.map((li) => [Number(li.dataset.seat), li.querySelector('.tag').textContent]));
}
