// A path in two parts, so that what does not fit is left out between them. Pure.

/** The way to a file and its name, which begins with the slash before it. */
export function splitPath(path: string): [head: string, name: string] {
  const at = path.replace(/[\\/]+$/, '').search(/[\\/][^\\/]*$/);
  return at <= 0 ? ['', path] : [path.slice(0, at), path.slice(at)];
}
