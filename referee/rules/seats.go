package rules

// BotAt returns the index of the bot at a seat in a rotation.
func BotAt(seat, rotation, bots int) int { return (seat + rotation) % bots }
