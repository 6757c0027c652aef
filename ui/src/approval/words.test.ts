// Sentences of questions: what stands at the head of a card and in a row.
import { describe, expect, it } from 'vitest';
import type { Entry, Tool } from '../api/types';
import { askedInput } from '../feed/model/tools';
import { whatOf } from '../pictures/timeline';
import { ledTo } from './led';
import { asked } from './testing';
import { announced, harmOf, label, marksOf, oneLine, pathOf, planTitle, quoted, sentence, unreadOf } from './words';

describe('the sentence of a question', () => {
  it('says who wants what', () => {
    expect(sentence(asked({ tool: 'Bash' }))).toBe('Bash wants to run a command');
    expect(sentence(asked({ tool: 'Edit' }))).toBe('Edit wants to change a file');
    expect(sentence(asked({ tool: 'mcp__tracker__create_issue' }))).toBe('tracker wants to run create_issue');
    expect(sentence(asked({ tool: 'OfTomorrow' }))).toBe('OfTomorrow wants to run');
  });

  it('says each thing that would be destroyed as what is wanted', () => {
    const harm = { kind: 'destructive' as const, says: 'deletes untracked files and discards uncommitted changes: `.` is the working folder' };
    expect(sentence(asked({ tool: 'Bash', harm }))).toBe('Bash wants to delete untracked files and discard uncommitted changes');
  });

  it('counts questions in words', () => {
    const input = { questions: [{ question: 'A?' }, { question: 'B?' }] };
    expect(sentence(asked({ kind: 'questions', input }))).toBe('Two questions before the agent continues');
    expect(label(asked({ kind: 'questions', input }))).toBe('Questions');
  });

  it('names_who_wants_what', () => {
    expect(sentence(asked({ tool: 'Write', input: { file_path: '/src/todo.sh', content: '' } }))).toBe('The agent wants to write `todo.sh`');
    expect(sentence(asked({ tool: 'EnterPlanMode', input: {} }))).toBe('The agent wants to switch to plan mode');
    expect(sentence(asked({ tool: 'Bash', input: { command: 'ls' } }))).toBe('Bash wants to run a command');
  });

  it('takes the harm from the host and from nowhere else', () => {
    const harmless = asked({ input: { command: 'rm -rf dist' }, reason: 'No rule means it.' });
    expect(harmOf(harmless)).toBeNull();
    const harmful = asked({ harm: { kind: 'destructive', says: 'removes files', parts: ['rm -rf dist'] } });
    expect(harmOf(harmful)).toBe('Removes files.');
    expect(sentence(harmful)).toBe('Bash wants to remove files');
    expect(sentence(asked({ harm: { kind: 'destructive', says: 'is odd' } }))).toBe('Bash wants to do something that cannot be undone');
    const says = (says: string) => sentence(asked({ harm: { kind: 'destructive', says } }));
    expect(says('deletes untracked files')).toBe('Bash wants to delete untracked files');
    expect(says('drops or empties database tables')).toBe('Bash wants to drop or empty database tables');
    expect(says('deletes something critical: `.` is the working folder or contains it')).toBe('Bash wants to delete something critical');
    expect(marksOf(harmful)).toEqual(['rm -rf dist']);
    const vital = { kind: 'destructive' as const, says: 'removes files: `/` belongs to the system', parts: ['rm -rf /'] };
    // The whole command: `.` alone may stand in another one, too.
    expect(marksOf(asked({ harm: vital }))).toEqual(['rm -rf /']);
    expect(marksOf(asked({ harm: { ...vital, parts: [] } }))).toEqual(['/']);
    expect(quoted('It is considered dangerous by the CLI: Dangerous rm operation on critical path: /.')).toEqual(['/']);
  });

  it('says what cannot be read once, and does not call it destructive', () => {
    const harm = { kind: 'unread' as const, says: '`python3` runs arbitrary code' };
    expect(harmOf(asked({ harm }))).toBeNull();
    expect(marksOf(asked({ harm }))).toEqual([]);
    expect(unreadOf(asked({ harm }))).toBe('No rule possible: `python3` runs arbitrary code.');
    expect(unreadOf(asked({ harm, reason: `Rules cannot check this: ${harm.says}.` }))).toBeNull();
    expect(unreadOf(asked())).toBeNull();
  });

  it('a plan without a text asks only to leave plan mode', () => {
    const plan = { wishes: [], ways: [], restarts: false, text: null };
    expect(sentence(asked({ kind: 'plan', plan }))).toBe('The agent wants to leave plan mode');
  });
});

describe('one line of the thing', () => {
  it('shows a command as it is, on one line', () => {
    expect(oneLine(asked({ input: { command: 'a\nb' } }))).toBe('a ⏎ b');
  });

  it('shows a path from the folder of the session', () => {
    const edit = asked({ tool: 'Edit', input: { file_path: '/srv/app/src/a.ts', old_string: 'a', new_string: 'b' } });
    expect(oneLine(edit, '/srv/app')).toBe('src/a.ts');
    expect(oneLine(edit, '/srv/ap')).toBe('/srv/app/src/a.ts');
  });

  it('shows what it does not know as JSON', () => {
    expect(oneLine(asked({ tool: 'X', input: { a: 1 } }))).toBe('{"a":1}');
  });

  it('takes the first heading of a plan', () => {
    expect(planTitle('\nintro\n## Two\n# One')).toBe('Two');
    expect(planTitle('only text')).toBe('only text');
  });
});

it('the path begins with the main agent', () => {
  const path = [{ description: 'First half', kind: 'general-purpose' }, { kind: 'reader' }, {}];
  expect(pathOf(asked({ path }))).toEqual(['main', 'First half', 'reader', 'sub-agent']);
});

it('what is read aloud is short', () => {
  const said = announced(asked({ input: { command: 'x'.repeat(500) } }));
  expect(said.startsWith('Question from Fix tests: Bash, xxx')).toBe(true);
  expect(said.length).toBeLessThan(160);
});

describe('a call that was edited', () => {
  it('is told as it was sent, wherever it stands in a line', () => {
    const one = { ...asked({ input: { command: 'make' } }), edited_input: { command: 'make test' } };
    expect(oneLine(one)).toBe('make test');
    const tool = {
      tool_use_id: 't', name: 'Bash', role: 'plain', state: 'ran', input: { json: { command: 'make' }, length: 0 },
      approval: { answer: { verdict: 'allow', input: { json: { command: 'make test' }, length: 0 } } },
    } as unknown as Tool;
    const entry = { id: '1-1', first: '1-1', last: '1-1', at: 0, life: 'final', body: { kind: 'tool', is: tool } } as Entry;
    expect(ledTo([entry], null, '').steps[0]?.code).toBe('make test');
    expect(whatOf(tool)).toBe('make test');
    expect(askedInput(tool)).toEqual({ command: 'make' });
    expect(askedInput({ ...tool, role: 'question' })).toBeUndefined();
  });
});
