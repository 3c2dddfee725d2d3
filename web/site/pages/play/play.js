// The form to choose a game offers the seats that the game has: by its rules, or, where options are
// written, as many as it has with any.
const form = document.querySelector('form.choose');
if (form) {
  const seats = form.querySelector('#seat'), all = [...seats.options];
  const offer = () => {
    const game = form.querySelector('input[name="game"]:checked');
    const rules = form.querySelector(`#rules-${game.value}`).selectedOptions[0];
    const count = Number(form.querySelector('#options').value.trim() ? game.dataset.most : rules.dataset.seats);
    const chosen = seats.value;
    seats.replaceChildren(...all.filter((option) => option.value === '' || Number(option.value) < count));
    seats.value = [...seats.options].some((option) => option.value === chosen) ? chosen : '';
  };
  form.addEventListener('input', offer);
  offer();
}
