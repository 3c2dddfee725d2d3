// The script of a replay's page: page.min.js is its bundle.
import { startPlayer } from './player.js';
const data = document.getElementById('replay');
startPlayer(document.getElementById('player'), JSON.parse(data.textContent));
