package stats

// Table returns the results of every bot against every other. Element [i][j] has the results of bot i against bot
// j. The elements on the diagonal are empty.
func Table(bots int, deals []Deal) [][]Summary {
	tallies := make(map[[2]int]*Tally)
	for _, deal := range deals {
		for _, d := range deal {
			key := [2]int{d.A, d.B}
			if tallies[key] == nil {
				tallies[key] = new(Tally)
			}
			tallies[key].Add(d)
		}
	}
	empty := new(Tally).Summary()
	table := make([][]Summary, bots)
	for i := range table {
		table[i] = make([]Summary, bots)
		for j := range table[i] {
			table[i][j] = empty
		}
	}
	for key, tally := range tallies {
		s := tally.Summary()
		table[key[0]][key[1]], table[key[1]][key[0]] = s, s.Reverse()
	}
	return table
}

// Reverse returns the same statistics from the view of the second bot.
func (s Summary) Reverse() Summary {
	n := len(s.Classes)
	classes := make([]ScoreClass, n)
	for i, c := range s.Classes {
		classes[n-1-i] = ScoreClass{Score: 1 - c.Score, Deals: c.Deals}
	}
	s.Classes = classes
	s.Score = Estimate{Value: 1 - s.Score.Value, Low: 1 - s.Score.High, High: 1 - s.Score.Low}
	s.Elo, s.Points = s.Elo.Reverse(), s.Points.Reverse()
	s.LOS = 1 - s.LOS
	return s
}
