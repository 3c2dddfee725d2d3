package commands

import (
	"os"
	"strings"
	"testing"

	"github.com/timba-arena/timba/cmd/internal/clitest"
	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/web/client"
)

// goodValues has a value for each word in the usage lines. A new word needs a value here.
var goodValues = map[string]string{
	"GAME": "teeko", "LADDER|GAME": "teeko", "LADDER": "tiny", "BOT": "@first", "BOT[@N]": "@first@1", "N": "1", "ID": "999999", "NAME": "ada",
	"NAME[:KEY=VALUE,...]": "greedy:noise=5", "LANGUAGE": "bash", "DIR": "new", "DIR|FILE": "mybot", "FILE": "game.json",
	"FILE|DIRECTORY": "game.json", "DIRECTORY|FILE": "game.json", "URL": "http://127.0.0.1:1", "STAGE": "build", "command": "match",
	"COMMAND": "true", "ARG": "x",
}

// requiredFlags are the flags without which a command does nothing, and those that make it short. $DATA is
// the data directory of the server.
var requiredFlags = map[string][]string{
	"timba admin backup":        {"--data", "$DATA"},
	"timba admin verify":        {"--data", "$DATA"},
	"timba admin token":         {"--data", "$DATA"},
	"timba serve":               {"--data", "arena", "--listen", "127.0.0.1:0"},
	"timba replay feed":         {"--seat", "0"},
	"timba match":               {"--deals", "1"},
	"timba check":               {"--quick"},
	"timba connect":             {"--bot", "ada"},
	"timba admin worker add":    {"--data", "$DATA"},
	"timba admin worker list":   {"--data", "$DATA"},
	"timba admin worker remove": {"--data", "$DATA"},
	"timba worker":              {"--nats", "nats://127.0.0.1:1", "--creds", "game.json", "--data", "worker"},
	"timba admin rerate":        {"--data", "$DATA"},
	"timba admin storage":       {"--data", "$DATA"},
}

// usageOnly are the commands that run here with an ended context, so that they only check their usage. They
// would serve or measure for longer than a test may take. Other tests start them.
var usageOnly = []string{
	"timba serve", "timba worker", "timba demo", "timba doctor",
}

// Every command is run with bad arguments, in a directory with a bot and a replay, and next to a server.
func TestWalk(t *testing.T) {
	a := newArena(t, "[limits]\ntime = \"168h\"\nrequests = 1000000\n[[ladder]]\nname = \"tiny\"\ngame = \"teeko\"\ndeals = 1\nclock = {movetime = 60000}\nhouse = [\"@random\"]\n")
	s := a.serve(t, "--workers", "1")
	made := t.TempDir()
	clitest.Make(t, newRoot, made, "init bash mybot", "match teeko @first @random --deals 1 --seed 1 --out replays")
	data := kit.Get[[]byte](t)(os.ReadFile("replays/games/0000-00000-0.json"))
	kit.Must(t, os.WriteFile("game.json", data, 0o600))
	t.Setenv(client.EnvURL, s.url)
	t.Setenv(client.EnvToken, s.token)
	w := clitest.Walk{New: newRoot, GoodValues: goodValues, RequiredFlags: requiredFlags, UsageOnly: usageOnly, Data: a.dir, All: kit.Soak}
	w.Run(t, made)
	if strings.Contains(s.log(), "msg=panic") {
		t.Errorf("the server panicked:\n%s", s.log())
	}
}
