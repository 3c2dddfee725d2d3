package tournament

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/timba-arena/timba/referee/check"
	"github.com/timba-arena/timba/referee/fault"
	"github.com/timba-arena/timba/referee/program"
	"github.com/timba-arena/timba/sandbox"
)

// About adds what the directory of a replay knows of a bot to the circumstances of its
// fault, and returns the words of the command that checks it. Both are less where the
// directory has no plan, and there are no words for a house bot.
func About(replay, name string, c fault.Circumstances) (fault.Circumstances, []string) {
	if strings.HasPrefix(name, "@") {
		return c, nil
	}
	unknown := []string{"check", "BOT"}
	dir := &Dir{Path: filepath.Dir(filepath.Dir(replay))}
	p, err := dir.ReadPlan()
	if err != nil {
		return c, unknown
	}
	i := slices.IndexFunc(p.Bots, func(b PlanBot) bool { return b.Name == name })
	if i < 0 {
		return c, unknown
	}
	c.Language = program.LanguageOf(p.Bots[i].Bot)
	c.Bare = p.Sandbox.Level == sandbox.None.String()
	return c, check.Words(p.Bots[i].Bot, p.Game, p.Clock.Clock(), sandbox.Limit{})
}
