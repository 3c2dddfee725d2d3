// The script of a replay's page: page.min.js is its bundle.
import { startPlayer } from './player.js';
import { current, spoken } from './words.js';
const data = document.getElementById('replay');
document.documentElement.lang = current();
startPlayer(document.getElementById('player'), JSON.parse(data.textContent), { languages: spoken() });
