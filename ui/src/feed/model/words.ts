// Names as the page says them: sizes, models, paths in a folder. Ages and money are kit/ages.

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  if (count < 1024 * 1024) return `${Math.round(count / 1024)} KiB`;
  return `${(count / 1024 / 1024).toFixed(1)} MiB`;
}

/** `claude-sonnet-4-5-20250929` → `Sonnet 4.5`; what is not named so stays as it is. */
export function modelName(model: string): string {
  const found = /^claude-(?:(\d[\d-]*)-)?([a-z]+)(?:-(\d+)(?:-(\d+))?)?(?:-\d{8})?(?:\[.*\])?$/.exec(model);
  if (!found?.[2]) return model;
  const version = found[1]?.replace('-', '.') ?? [found[3], found[4]].filter((part) => part && part.length < 3).join('.');
  const name = found[2].charAt(0).toUpperCase() + found[2].slice(1);
  return version ? `${name} ${version}` : name;
}

/** A path as it is told in a folder: from the folder on, if it lies in it. */
export function within(path: string, folder: string | undefined): string {
  if (folder && path.startsWith(`${folder}/`)) return path.slice(folder.length + 1);
  return path;
}
