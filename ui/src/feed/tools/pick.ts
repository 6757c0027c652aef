// Finds in a record of the journal what an entry holds the beginning of. The record is the CLI's own line.
import { fields, text as word } from '../../approval/thing';

/** The blocks of a message line. */
function blocks(line: unknown): unknown[] {
  const content = fields(fields(line)['message'])['content'];
  return Array.isArray(content) ? content : typeof content === 'string' ? [{ type: 'text', text: content }] : [];
}

/** What a call gave back. */
export const resultIn = (call: string) => (line: unknown): string | null => {
  for (const block of blocks(line)) {
    if (word(block, 'tool_use_id') !== call) continue;
    const content = fields(block)['content'];
    if (typeof content === 'string') return content;
    if (Array.isArray(content)) return content.map((part) => word(part, 'text')).filter(Boolean).join('\n');
  }
  return null;
};

/** What a command printed: the tool's own form of it, without what was added for the model. */
export const printedIn = (call: string) => (line: unknown): string | null => {
  const structured = fields(line)['tool_use_result'] ?? fields(line)['toolUseResult'];
  const printed = [word(structured, 'stdout'), word(structured, 'stderr')].filter(Boolean).join('\n');
  return printed || resultIn(call)(line);
};

/** The input of a call. */
export const inputIn = (call: string) => (line: unknown): string | null => {
  const request = fields(fields(line)['request'])['input'];
  const block = blocks(line).find((one) => word(one, 'id') === call);
  const input = fields(block)['input'] ?? request;
  return input === undefined ? null : JSON.stringify(input, null, 2);
};

/** All text of a message. */
export const textIn = (line: unknown): string | null => {
  const texts = blocks(line).map((block) => word(block, 'text') || word(block, 'thinking')).filter(Boolean);
  return texts.length > 0 ? texts.join('\n\n') : null;
};
