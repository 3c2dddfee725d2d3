// Plays a game back. The address has the position, ?ply= and ?seat=, as one steps.
import { startPlayer } from '../board/replay.js';
import '../layout/copy.js';

startPlayer(document.getElementById('player'), JSON.parse(document.getElementById('replay').textContent), { part: true, address: 'query' });
