package referee

func runScript(string) error { return nil }
