<?php
while (($line = fgets(STDIN)) !== false) {
    $words = explode(" ", trim($line));
    $hand = null;
    if ($words[0] == "timba") echo "ready\n";
    elseif ($words[0] == "turn") echo "move " . $hand->best() . "\n";
    elseif ($words[0] == "bye") exit(0);
}
