module bot

go 1.21
