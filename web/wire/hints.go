package wire

import (
	"errors"
	"strings"

	"github.com/timba-arena/timba/internal/phrase"
	"github.com/timba-arena/timba/ladder"
)

// hints maps the hints in errors of package ladder, which mention no command, to their wording for the API and the
// commands.
var hints = map[string]string{
	ladder.HintBots:        "timba bots lists them",
	ladder.HintVersions:    "timba bots %s lists them",
	ladder.HintLiveBefore:  "timba bots %s lists those that were",
	ladder.HintCancel:      "wait for its end, or cancel it: timba bots cancel %s",
	ladder.HintRestore:     "bring it back first: timba bots restore %s",
	ladder.HintLadders:     "timba standings lists them",
	ladder.HintPeople:      "timba admin people lists them",
	ladder.HintInvites:     "timba admin invites lists them",
	ladder.HintSignIn:      "timba login takes a new one",
	ladder.HintSendToken:   "send Authorization: Bearer TOKEN",
	ladder.HintNewInvite:   "ask the operator for a new one: timba admin invite",
	ladder.HintNewLink:     "ask the operator for a new one: timba admin sign-in",
	ladder.HintJoin:        "join with the code of an invite, as in timba login URL --invite CODE --name %s; the operator makes them",
	ladder.HintOwnToken:    "make one on the page of your tokens",
	ladder.HintRevoke:      "revoke one: timba tokens revoke ID",
	ladder.HintLastKey:     "make another first: timba tokens add --scope all",
	ladder.HintCancelMatch: "wait until one is over, or cancel one: timba matches cancel ID",
	ladder.HintBotName:     "give it one with the upload (--bot NAME, ?bot=NAME), or write name into %s",
	ladder.HintNewVersion:  "repair the bot, then connect with --new-version",
	ladder.HintReplace:     "connect under another name, or replace it: --new-version",
	ladder.HintChange:      "connect with --new-version to change that",
	ladder.HintMissing:     "timba admin verify lists all that is missing",
	ladder.HintDamaged:     "timba admin verify lists all that is damaged",
	ladder.HintDifferences: "timba admin verify says what differs",
	ladder.HintRerate:      "compute them again: timba admin rerate --data %s",
	ladder.HintRepair:      "stop the server and restore a backup; timba admin verify shows what is damaged",
	ladder.HintOperator:    "tell its operator, who finds the damage with timba admin verify and restores a backup",
	ladder.HintStart:       "name the directory of a server, or start one there with timba serve --data %s",
}

// HintText returns hint, the advice in an error, in the form for the API and the commands: it mentions
// commands of timba.
func HintText(hint phrase.Text) string {
	text, _ := hint.Translate(hints)
	return text
}

// ErrorText returns the message that a command prints for err. It replaces the hint of a ladder.Error by its
// HintText.
func ErrorText(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*ladder.Error](err); ok && !e.Hint.IsZero() {
		text = strings.Replace(text, ": "+e.Hint.String(), ": "+HintText(e.Hint), 1)
	}
	return text
}
