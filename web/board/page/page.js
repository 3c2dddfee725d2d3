// The script of a replay's page: page.min.js is its bundle.
import { startPlayer } from '../replay.js';
import { language } from '../text.js';
document.documentElement.lang = language;
startPlayer(document.getElementById('player'), JSON.parse(document.getElementById('replay').textContent));
