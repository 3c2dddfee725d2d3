// The replay of a game that is over.
import { startPlayer } from '../board/player.js';

const data = document.getElementById('replay');
if (data) startPlayer(document.getElementById('player'), JSON.parse(data.textContent), { part: true });
