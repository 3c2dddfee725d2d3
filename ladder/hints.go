package ladder

// These hints are placeholders, because their wording depends on where they are shown. The CLI, the API and the
// site replace each by a text that names a command, a header or a page.
const (
	HintBots        = "look at the list of bots"
	HintVersions    = "look at the versions of %s"
	HintLiveBefore  = "look at the versions of %s that have been live"
	HintCancel      = "wait for its end, or cancel the version of %s on its way"
	HintRestore     = "bring %s back first"
	HintLadders     = "look at the list of ladders"
	HintPeople      = "look at the list of people"
	HintInvites     = "look at the list of invites"
	HintSignIn      = "sign in with another token"
	HintSendToken   = "send a token"
	HintNewInvite   = "ask the operator for another invite"
	HintNewLink     = "ask the operator for another link"
	HintJoin        = "join as %s with the code of an invite; the operator makes them"
	HintOwnToken    = "make one among your tokens"
	HintRevoke      = "revoke one"
	HintLastKey     = "make another with all rights first"
	HintCancelMatch = "wait until one is over, or cancel one"
	HintBotName     = "give it one with the upload, or write name into %s"
	HintNewVersion  = "repair the bot, then connect it as a new version"
	HintReplace     = "connect under another name, or replace it by a new version"
	HintChange      = "connect it as a new version to change that"
	HintMissing     = "a verification lists all that is missing"
	HintDamaged     = "a verification lists all that is damaged"
	HintDifferences = "a verification says what differs"
	HintRerate      = "compute them again, in %s"
	HintRepair      = "stop the server and restore a backup; a verification shows what is damaged"
	HintOperator    = "tell its operator, who finds the damage by a verification and restores a backup"
	HintStart       = "name the directory of a server, or start one in %s"
)
