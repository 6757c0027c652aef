// Which language a fence or a file is in. Pure, and small enough for the first load.

const NAMES: Record<string, string> = {
  sh: 'bash', shell: 'bash', zsh: 'bash', console: 'bash', bash: 'bash', h: 'c', c: 'c', cc: 'cpp', cpp: 'cpp', hpp: 'cpp', cxx: 'cpp', 'c++': 'cpp',
  cs: 'csharp', csharp: 'csharp', 'c#': 'csharp', css: 'css', less: 'css', diff: 'diff', patch: 'diff', docker: 'dockerfile', dockerfile: 'dockerfile',
  ex: 'elixir', exs: 'elixir', elixir: 'elixir', go: 'go', golang: 'go', hs: 'haskell', haskell: 'haskell', ini: 'ini', toml: 'ini', cfg: 'ini', conf: 'ini',
  java: 'java', js: 'javascript', jsx: 'javascript', mjs: 'javascript', cjs: 'javascript', javascript: 'javascript', json: 'json', jsonc: 'json', json5: 'json',
  kt: 'kotlin', kts: 'kotlin', kotlin: 'kotlin', lua: 'lua', make: 'makefile', makefile: 'makefile', mk: 'makefile', md: 'markdown', markdown: 'markdown',
  pl: 'perl', perl: 'perl', php: 'php', ps1: 'powershell', powershell: 'powershell', proto: 'protobuf', protobuf: 'protobuf', py: 'python', python: 'python',
  rb: 'ruby', ruby: 'ruby', rs: 'rust', rust: 'rust', scala: 'scala', scss: 'scss', sass: 'scss', sql: 'sql', swift: 'swift', ts: 'typescript', tsx: 'typescript',
  mts: 'typescript', cts: 'typescript', typescript: 'typescript', html: 'xml', htm: 'xml', xml: 'xml', svg: 'xml', vue: 'xml', svelte: 'xml', yml: 'yaml', yaml: 'yaml',
};

/** The language of a fence; none where it is not known. */
export function languageOf(name: string): string | null {
  return Object.hasOwn(NAMES, name.toLowerCase()) ? (NAMES[name.toLowerCase()] ?? null) : null;
}

/** The language of a file, by its name. */
export function languageOfFile(path: string): string | null {
  const file = path.split('/').at(-1) ?? '';
  const end = /\.([^.]+)$/.exec(file)?.[1];
  return languageOf(end ?? file);
}
