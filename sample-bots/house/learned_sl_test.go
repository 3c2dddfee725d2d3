package house

import (
	"io/fs"
	"testing"

	"github.com/timba-arena/timba/internal/kit"
	"github.com/timba-arena/timba/referee/rules"
	"github.com/timba-arena/timba/sample-bots/learn"
)

// mostEmbedded is how many bytes the models in the program may have together.
const mostEmbedded = 1 << 20

// There is a model for each mode, and together they are small.
func TestSLModels(t *testing.T) {
	for _, m := range learn.Modes() {
		a, err := slModels.load(builtIn, m)
		if err != nil {
			t.Error(err)
		} else if a.Mode != m || len(a.Header.Defects) > 0 {
			t.Errorf("%v: the model is for %v, with the defects %q", m, a.Mode, a.Header.Defects)
		}
	}
	size := int64(0)
	err := fs.WalkDir(slFiles, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		size += info.Size()
		return err
	})
	if err != nil || size > mostEmbedded {
		t.Errorf("the models have %d bytes, more than %d: %v", size, mostEmbedded, err)
	}
}

func BenchmarkSLLoad(b *testing.B) {
	m := learn.Mode{Tute: true, Players: 4}
	for b.Loop() {
		if _, err := slModels.load(builtIn, m); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSLMove chooses the first move of games of Tute with two players: of eight cards.
func BenchmarkSLMove(b *testing.B) {
	m := learn.Mode{Tute: true, Players: 2}
	a, err := slModels.load(builtIn, m)
	kit.Must(b, err)
	src := rules.FastStream(rules.NewRand(1))
	var p learn.Tute
	p.Begin(m, m.Rules()[0], &src)
	legal := p.Legal(nil)
	b.ReportAllocs()
	for b.Loop() {
		chooseSL(a, &p, legal, false)
	}
}
