// The form to ask for a match shows a field for each bot of the ladder that is chosen.

const ladder = document.getElementById('ladder');

function fit() {
	document.querySelectorAll('[name=bot]').forEach((field, i) => {
		field.parentElement.hidden = field.disabled = i >= Number(ladder.selectedOptions[0].dataset.bots);
	});
}

ladder.addEventListener('change', fit);
fit();
