package run

import "fmt"

// Tally is how games ended.
type Tally struct {
	Wins   int `json:"won"`
	Losses int `json:"lost"`
	Draws  int `json:"drawn"`
}

// Count adds a game with a standing, see cards.Standing.
func (t *Tally) Count(standing int) {
	switch standing {
	case 1:
		t.Wins++
	case 0:
		t.Draws++
	default:
		t.Losses++
	}
}

// Games returns how many games were played.
func (t Tally) Games() int { return t.Wins + t.Losses + t.Draws }

// WinShare returns the part of the games won, a draw being half.
func (t Tally) WinShare() float64 {
	return (float64(t.Wins) + float64(t.Draws)/2) / float64(max(1, t.Games()))
}

func (t Tally) String() string {
	return fmt.Sprintf("%d won, %d lost, %d drawn", t.Wins, t.Losses, t.Draws)
}
