// What a sub-agent reported, without what the CLI wraps around it for the model.
import type { Tool } from '../../api/types';
import { fields, text as word } from '../../approval/thing';

export function reportOf(tool: Tool): string {
  if (tool.agent?.summary?.text) return tool.agent.summary.text.trim();
  const content = fields(tool.result?.structured?.json)['content'];
  const texts = (Array.isArray(content) ? content : []).map((part) => word(part, 'text').trim());
  const own = texts.filter((text) => text !== '' && !/^<[\w-]+>[^<]*<\/[\w-]+>$/.test(text));
  if (own.length > 0) return own.join('\n');
  return (tool.result?.text.text ?? '')
    .replace(/<[\w-]+>[^<]*<\/[\w-]+>\n?/g, '')
    .replace(/^\[[^\]\n]*\][^\n]*\n/, '')
    .trim();
}
