package run

import "fmt"

// Tally is how games ended.
type Tally struct {
	Won   int `json:"won"`
	Lost  int `json:"lost"`
	Drawn int `json:"drawn"`
}

// Count adds a game with a standing, see cards.Standing.
func (t *Tally) Count(standing int) {
	switch standing {
	case 1:
		t.Won++
	case 0:
		t.Drawn++
	default:
		t.Lost++
	}
}

// Games returns how many games were played.
func (t Tally) Games() int { return t.Won + t.Lost + t.Drawn }

// Share returns the part of the games won, a draw being half.
func (t Tally) Share() float64 {
	return (float64(t.Won) + float64(t.Drawn)/2) / float64(max(1, t.Games()))
}

func (t Tally) String() string {
	return fmt.Sprintf("%d won, %d lost, %d drawn", t.Won, t.Lost, t.Drawn)
}
