// The entries of a transcript under short names. Everything is taken from the generated schema.
import type { components } from './schema';

type Schemas = components['schemas'];

export type EntryId = string;
/** A place in the journal: `generation-seq`. */
export type Cursor = string;
/** A text, or as much of it as an entry holds; `whole` names the record with the rest. */
export type Clip = Schemas['Clip'];
/** A JSON value, its long parts cut; `whole` as above. */
export type Shown = Schemas['Shown'];
export type AskStanding = Schemas['AskStanding'];
export type AskAnswer = Schemas['EntryAnswer'];
export type EntryApproval = Schemas['EntryApproval'];
export type Prompt = Schemas['EntryPrompt'];
export type Said = Schemas['EntryText'];
export type Thought = Schemas['EntryThinking'];
export type Tool = Schemas['EntryTool'];
export type ToolState = Schemas['ToolState'];
export type Returned = Schemas['ToolReturned'];
export type Task = Schemas['EntryTask'];
export type Ask = Schemas['EntryAsk'];
export type Hook = Schemas['EntryHook'];
export type Tokens = Schemas['Tokens'];
export type TurnEnd = Schemas['TurnEnd'];
export type Process = Schemas['Process'];

export type Entry = Schemas['Entry'];
export type Body = Schemas['EntryBody'];
export type EntryKind = Body['kind'];
/** What an entry can be, by its kind. */
export type Bodies = { [K in EntryKind]: Extract<Body, { kind: K }>['is'] };
/** An entry of one kind. */
export type EntryOf<K extends EntryKind> = Omit<Entry, 'body'> & { body: { kind: K; is: Bodies[K] } };

export type Change = Schemas['EntryChange'];
export type Changes = Schemas['EntryChanges'];
export type TranscriptPage = Schemas['Above_Entry'];
export type Totals = Schemas['Totals'];
