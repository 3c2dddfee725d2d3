package run

import "fmt"

// WinTally counts the wins, losses and draws of one player.
type WinTally struct {
	Wins   int `json:"won"`
	Losses int `json:"lost"`
	Draws  int `json:"drawn"`
}

// Count adds one game. A standing of 1 is a win, 0 is a draw, and any other value is a loss.
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

// Games returns the number of games counted.
func (t WinTally) Games() int { return t.Wins + t.Losses + t.Draws }

// WinShare returns the share of games won, where a draw counts as half a win. Without games it is 0.
func (t WinTally) WinShare() float64 {
	return (float64(t.Wins) + float64(t.Draws)/2) / float64(max(1, t.Games()))
}

func (t WinTally) String() string {
	return fmt.Sprintf("%d won, %d lost, %d drawn", t.Wins, t.Losses, t.Draws)
}
