package runner

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/timba-arena/timba/ladder"
	"github.com/timba-arena/timba/ladder/attempt"
)

// For any jobs that end in any order: the machine never uses more cores and memory than it has, a job that
// does not fit is the next one when it does, and all jobs are done in the end.
func TestPlacement(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		total := rapid.Int64Range(0, 20).Draw(t, "memory")
		m := attempt.WorkerInfo{Cores: make([]int, rapid.IntRange(1, 5).Draw(t, "cores")), Memory: total, Local: true}
		for i := range m.Cores {
			m.Cores[i] = i
		}
		most := total
		if total == 0 {
			most = 20
		}
		p, now := newPlacement(), time.Now()
		p.sync([]attempt.WorkerInfo{m})
		left := rapid.SliceOfN(rapid.Int64Range(0, most), 0, 30).Draw(t, "jobs")
		for len(left) > 0 || len(p.local().assignments) > 0 {
			for at := range p.freeCores(now) {
				if len(left) > 0 && p.assign(at, &TryoutJob{Memory: left[0]}) != nil {
					left = left[1:]
				}
			}
			jobs := p.local().assignments
			var sum int64
			used := map[int]bool{}
			for _, j := range jobs {
				sum += j.job.memory()
				used[j.core] = true
			}
			switch {
			case total > 0 && sum > total:
				t.Fatalf("%d of %d are handed out", sum, total)
			case len(used) != len(jobs):
				t.Fatalf("%d jobs are on %d cores", len(jobs), len(used))
			case len(jobs) == 0:
				t.Fatal("nothing runs, and nothing begins")
			case len(left) > 0 && len(jobs) < len(m.Cores) && (total == 0 || sum+left[0] <= total):
				t.Fatalf("a job of %d waits while %d of %d are handed out", left[0], sum, total)
			}
			p.release(jobs[rapid.IntRange(0, len(jobs)-1).Draw(t, "ends")])
		}
	})
}

// A machine that waits for memory gets no smaller job before, unless the waiting job is no longer wanted.
func TestSaving(t *testing.T) {
	t.Parallel()
	p, now := newPlacement(), time.Now()
	p.sync([]attempt.WorkerInfo{{Local: true, Cores: []int{0, 1, 2}, Memory: 10}})
	assign := func(memory int64) *assignment {
		return p.assign(Core{machine: p.local(), now: now}, &TryoutJob{Memory: memory})
	}
	free := func() bool { return p.hasFreeCore(p.local(), now) }
	small := assign(4)
	if small == nil || assign(8) != nil || free() {
		t.Fatal("it does not save for the second job")
	}
	p.clearAwaitedMemory()
	if !free() || assign(8) != nil || free() {
		t.Fatal("it does not save again")
	}
	p.release(small)
	if !free() || assign(10) == nil {
		t.Error("there is room for it, and it gets nothing")
	}
	assign(10)
	if p.sync([]attempt.WorkerInfo{{Local: true, Cores: []int{0, 1, 2}, Memory: 9}}); p.local().awaitedMemory != 0 {
		t.Error("it saves more than it has")
	}
}

// Another machine gets few jobs at first, and one after a failure. An adopted job has the core that the
// machine reports.
func TestMachineJobs(t *testing.T) {
	t.Parallel()
	p, now := newPlacement(), time.Now()
	local, w := attempt.WorkerInfo{Name: attempt.Local, Local: true}, attempt.WorkerInfo{Name: "w", Cores: []int{0, 1, 2, 3, 4, 5, 6}}
	p.sync([]attempt.WorkerInfo{local})
	adopted := p.adopt("w", &ladder.Match{ID: 9, Attempts: []ladder.Attempt{{Number: 2}}}, now)
	w.Attempts = []attempt.ReportedAttempt{{Match: 9, Attempt: 2, Core: 3}}
	p.sync([]attempt.WorkerInfo{w, local})
	id := int64(10)
	fill := func() (n int) {
		for at := range p.freeCores(now) {
			id++
			p.assign(at, &matchJob{match: &ladder.Match{ID: id}})
			n++
		}
		return n
	}
	m := p.machines[1]
	for i, c := range []struct {
		change func()
		want   int
	}{
		{func() {}, firstMatches - 1},
		{func() { p.recordSuccess(m) }, 1},
		{func() { p.recordFailure(m, now) }, 0},
		{func() { now = now.Add(maxBackoff); m.assignments = nil }, 1},
		{func() { p.recordSuccess(m) }, firstMatches + 1},
		{func() { p.sync([]attempt.WorkerInfo{local}); m.assignments = nil }, 0},
		{func() { p.sync([]attempt.WorkerInfo{w, local}) }, firstMatches},
	} {
		if c.change(); fill() != c.want {
			t.Errorf("%d: it has %d jobs, want %d more", i, len(m.assignments), c.want)
		}
		for _, j := range m.assignments {
			if (j.core == 3) != (j == adopted) && i == 0 {
				t.Errorf("core 3 has %+v", j)
			}
		}
	}
}
