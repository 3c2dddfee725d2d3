// Moves the focus from value to value in line charts by the arrow keys, Home and End.

const moves = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

for (const svg of document.querySelectorAll('.linechart')) {
  const points = [...svg.querySelectorAll('.point')];
  svg.addEventListener('keydown', (event) => {
    const from = points.indexOf(document.activeElement), move = moves[event.key];
    if (from < 0 || move === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const to = points[Math.min(Math.max(from + move, 0), points.length - 1)];
    points[from].tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  });
}
