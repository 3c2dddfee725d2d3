// The editor of the page /write: CodeMirror with the languages that have a starter. It is bundled into
// pages/write/codemirror.js: go test ./web/site -run TestCodeMirrorIsFresh -update.

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { HighlightStyle, StreamLanguage, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { c, clike, cpp, java } from '@codemirror/legacy-modes/mode/clike';
import { go } from '@codemirror/legacy-modes/mode/go';
import { javascript } from '@codemirror/legacy-modes/mode/javascript';
import { lua } from '@codemirror/legacy-modes/mode/lua';
import { perl } from '@codemirror/legacy-modes/mode/perl';
import { python } from '@codemirror/legacy-modes/mode/python';
import { ruby } from '@codemirror/legacy-modes/mode/ruby';
import { rust } from '@codemirror/legacy-modes/mode/rust';
import { shell as bash } from '@codemirror/legacy-modes/mode/shell';
import { tcl } from '@codemirror/legacy-modes/mode/tcl';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const words = (text) => Object.fromEntries(text.split(' ').map((word) => [word, true]));
const php = clike({
	name: 'php',
	keywords: words('abstract and array as break case catch class clone const continue declare default do echo else elseif exit extends final finally fn for foreach function global goto if implements include instanceof interface isset list match namespace new or print private protected public readonly require return static switch throw trait try unset use var while xor yield'),
	blockKeywords: words('catch do else elseif for foreach if switch try while finally'),
	atoms: words('true false null TRUE FALSE NULL'),
	multiLineStrings: true,
	hooks: {
		$: (stream) => { stream.eatWhile(/\w/); return 'variable'; },
		'#': (stream) => { stream.skipToEnd(); return 'comment'; },
		"'": (stream) => { while (!stream.eol() && stream.next() !== "'"); return 'string'; },
	},
});
const languages = { bash, c, cpp, go, java, javascript, lua, perl, php, python, ruby, rust, tcl };

// The colours are those of the page.
const look = EditorView.theme({
	'&': { height: '100%', backgroundColor: 'var(--panel)', color: 'var(--text)', fontSize: 'var(--small)' },
	'&.cm-focused': { outline: '3px solid var(--focus)', outlineOffset: '2px' },
	'.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', overflow: 'auto' },
	'.cm-content': { caretColor: 'var(--text)' },
	'.cm-gutters': { backgroundColor: 'var(--sunk)', color: 'var(--soft)', border: '0' },
	'.cm-failed': { backgroundColor: 'color-mix(in srgb, var(--bad) 18%, transparent)', boxShadow: 'inset 3px 0 var(--bad)' },
	'.cm-matchingBracket': { backgroundColor: 'var(--sunk) !important', outline: '1px solid var(--soft)' },
});
const colours = HighlightStyle.define([
	{ tag: tags.comment, color: 'var(--soft)', fontStyle: 'italic' },
	{ tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.meta], color: 'var(--accent)' },
	{ tag: [tags.string, tags.regexp, tags.character], color: 'var(--good)' },
	{ tag: [tags.number, tags.atom, tags.bool, tags.null], color: 'var(--bad)' },
]);

// failed is the line at which the bot failed; setFailed, with the number of a line, marks it, 0 none.
const setFailed = StateEffect.define();
const failed = StateField.define({
	create: () => Decoration.none,
	update(mark, change) {
		for (const { value } of change.effects.filter((e) => e.is(setFailed))) {
			return value ? Decoration.set(Decoration.line({ class: 'cm-failed' }).range(change.newDoc.line(value).from)) : Decoration.none;
		}
		return mark.map(change.changes);
	},
	provide: (field) => EditorView.decorations.from(field),
});

// openEditor makes an editor in an element, with a name for who cannot see it; changed is called with each new text.
// It stands in a shadow root: there its styles are no style elements, which the content security policy forbids.
export function openEditor(element, label, changed) {
	const root = element.attachShadow({ mode: 'open' });
	const view = new EditorView({ root, parent: root });
	return {
		get text() { return view.state.doc.toString(); },
		focus: () => view.focus(),
		mark(line) {
			if (!(line >= 0 && line <= view.state.doc.lines)) return;
			const effects = [setFailed.of(line)];
			if (line) effects.push(EditorView.scrollIntoView(view.state.doc.line(line).from, { y: 'center' }));
			view.dispatch({ effects });
		},
		show(text, language) {
			view.setState(EditorState.create({ doc: text, extensions: [
				lineNumbers(), failed, history(), indentOnInput(), bracketMatching(), look, syntaxHighlighting(colours),
				keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
				StreamLanguage.define(languages[language]), indentUnit.of(/\n\t/.test(text) ? '\t' : '    '),
				EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
				EditorView.updateListener.of((update) => { if (update.docChanged) changed(update.state.doc.toString()); }),
			] }));
		},
	};
}
