package run

import "fmt"

// WinTally is how games ended.
type WinTally struct {
	Wins   int `json:"won"`
	Losses int `json:"lost"`
	Draws  int `json:"drawn"`
}

// Count adds a game with a standing, see cards.Standing.
func (t *WinTally) Count(standing int) {
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
func (t WinTally) Games() int { return t.Wins + t.Losses + t.Draws }

// WinShare returns the part of the games won, a draw being half.
func (t WinTally) WinShare() float64 {
	return (float64(t.Wins) + float64(t.Draws)/2) / float64(max(1, t.Games()))
}

func (t WinTally) String() string {
	return fmt.Sprintf("%d won, %d lost, %d drawn", t.Wins, t.Losses, t.Draws)
}
