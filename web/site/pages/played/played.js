// The replay of a game that is over.
import { startPlayer } from '../board/replay.js';

const data = document.getElementById('replay');
if (data) startPlayer(document.getElementById('player'), JSON.parse(data.textContent), { part: true });
