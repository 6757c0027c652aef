// A form of an MCP server, from its JSON schema: flat fields of text, number, yes or no, one or some of a list. Pure.
// Invariants: values go back in the kinds the form wants; nothing is sent before what it must have is there; a page of a
// server is an address to be read, and only http(s) is ever opened.

import { fields, text } from '../approval/thing';

export interface Item {
  name: string;
  title: string;
  help: string;
  kind: 'text' | 'long' | 'number' | 'integer' | 'boolean' | 'one' | 'some';
  required: boolean;
  /** For a text: what the browser may check. */
  format: 'email' | 'uri' | 'date' | 'date-time' | null;
  options: { value: string | number; label: string }[];
  least: number | null;
  most: number | null;
  first: Value;
}

export type Value = string | boolean | string[];

/** The fields of a form, in the order the server wants. */
export function itemsOf(input: unknown): Item[] {
  const schema = fields(fields(input)['requested_schema']);
  const properties = fields(schema['properties']);
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const order = fields(input)['property_order'];
  const wanted = Array.isArray(order) ? order.filter((name): name is string => typeof name === 'string') : [];
  const names = [...new Set([...wanted.filter((name) => name in properties), ...Object.keys(properties)])];
  return names.map((name) => itemOf(name, properties[name], required.includes(name)));
}

function itemOf(name: string, property: unknown, required: boolean): Item {
  const of = fields(property);
  const number = (key: string) => (typeof of[key] === 'number' ? (of[key] as number) : null);
  const kind = kindOf(of);
  return {
    name,
    title: text(of, 'title') || name,
    help: text(of, 'description'),
    kind,
    required,
    format: formatOf(text(of, 'format')),
    options: kind === 'some' ? optionsOf(fields(of['items'])) : optionsOf(of),
    least: number('minimum') ?? number('minLength') ?? number('minItems'),
    most: number('maximum') ?? number('maxLength') ?? number('maxItems'),
    first: firstOf(of, kind),
  };
}

function kindOf(of: Record<string, unknown>): Item['kind'] {
  if (Array.isArray(of['enum']) || Array.isArray(of['oneOf'])) return 'one';
  switch (of['type']) {
    case 'boolean':
      return 'boolean';
    case 'integer':
      return 'integer';
    case 'number':
      return 'number';
    case 'array':
      return 'some';
  }
  const most = of['maxLength'];
  return typeof most === 'number' && most > 200 ? 'long' : 'text';
}

function formatOf(format: string): Item['format'] {
  return format === 'email' || format === 'uri' || format === 'date' || format === 'date-time' ? format : null;
}

function optionsOf(of: Record<string, unknown>): Item['options'] {
  const titled = Array.isArray(of['oneOf']) ? of['oneOf'] : Array.isArray(of['anyOf']) ? of['anyOf'] : null;
  if (titled !== null) {
    return titled.flatMap((each) => {
      const value = fields(each)['const'];
      if (typeof value !== 'string' && typeof value !== 'number') return [];
      return [{ value, label: text(each, 'title') || String(value) }];
    });
  }
  const names = Array.isArray(of['enumNames']) ? of['enumNames'] : [];
  const values = Array.isArray(of['enum']) ? of['enum'] : [];
  return values.flatMap((value, place) => {
    if (typeof value !== 'string' && typeof value !== 'number') return [];
    const name = names[place];
    return [{ value, label: typeof name === 'string' ? name : String(value) }];
  });
}

function firstOf(of: Record<string, unknown>, kind: Item['kind']): Value {
  const first = of['default'];
  if (kind === 'boolean') return first === true;
  if (kind === 'some') return Array.isArray(first) ? first.map(String) : [];
  if (typeof first === 'string' && of['format'] === 'date-time') return inField(first);
  return typeof first === 'string' || typeof first === 'number' ? String(first) : '';
}

export function valuesAtFirst(items: Item[]): Record<string, Value> {
  return Object.fromEntries(items.map((item) => [item.name, item.first]));
}

/** What is wrong with a value, in a few words; none if it will do. */
export function fault(item: Item, value: Value | undefined): string | null {
  if (item.kind === 'boolean') return null;
  const empty = value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  if (empty) return item.required ? 'Needed.' : null;
  if (item.kind === 'number' || item.kind === 'integer') return faultOfNumber(item, String(value));
  const size = Array.isArray(value) ? value.length : String(value).length;
  const unit = item.kind === 'some' ? 'choices' : 'letters';
  if (item.kind === 'one') return null;
  if (item.least !== null && size < item.least) return `At least ${item.least} ${unit}.`;
  if (item.most !== null && size > item.most) return `At most ${item.most} ${unit}.`;
  if (item.format === 'email' && !/^\S+@\S+$/.test(String(value))) return 'An address with an @.';
  if (item.format === 'uri' && !URL.canParse(String(value))) return 'A whole address, as in https://example.org.';
  return null;
}

function faultOfNumber(item: Item, given: string): string | null {
  const number = Number(given);
  if (!Number.isFinite(number) || given.trim() === '') return 'A number.';
  if (item.kind === 'integer' && !Number.isInteger(number)) return 'A whole number.';
  if (item.least !== null && number < item.least) return `At least ${item.least}.`;
  if (item.most !== null && number > item.most) return `At most ${item.most}.`;
  return null;
}

/** The values in the kinds the form wants; what was left empty is left out. */
export function filled(items: Item[], values: Record<string, Value>): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const item of items) {
    const value = values[item.name];
    if (item.kind === 'boolean') out[item.name] = value === true;
    else if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) continue;
    else out[item.name] = typed(item, value);
  }
  return out;
}

function typed(item: Item, value: Value): unknown {
  const exact = (given: string) => item.options.find((option) => String(option.value) === given)?.value ?? given;
  if (item.kind === 'number' || item.kind === 'integer') return Number(value);
  if (Array.isArray(value)) return value.map(exact);
  if (item.kind === 'one') return exact(String(value));
  return item.format === 'date-time' ? moment(String(value)) : value;
}

/** The browser's field knows no zone, and the form wants one: what was chosen is meant in the reader's own. */
function moment(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? local : at.toISOString();
}

/** The other way: a moment as the browser's field takes it. */
function inField(moment: string): string {
  const at = new Date(moment);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The page that a server wants opened; none if its address is not one that may be. */
export function pageOf(input: unknown): { href: string; host: string } | null {
  const given = text(input, 'url');
  if (!URL.canParse(given)) return null;
  const url = new URL(given);
  return url.protocol === 'https:' || url.protocol === 'http:' ? { href: url.href, host: url.host } : null;
}

/** What a dialog of the CLI lets one choose: as the host reads it. */
export function dialogChoices(kind: string): { value: string; label: string; help: string }[] {
  if (kind !== 'refusal_fallback_prompt') return [];
  return [
    { value: 'retry_fallback', label: 'Try again with the other model', help: 'The same message, once more.' },
    { value: 'edit_prompt', label: 'Stop here', help: 'You write the message anew.' },
  ];
}
