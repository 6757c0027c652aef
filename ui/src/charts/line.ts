// A line over the days, laid out in pixels on the places of columns. Pure. Rule: a day of which nothing is known is a gap in the line,
// never a zero.

export interface Point {
  x: number;
  y: number;
  at: number;
}

/** The path of the known values, from 0 to 1, and its points. A value that stands alone has only its point. */
export function linePath(
  values: readonly (number | null)[],
  columns: readonly { x: number; w: number }[],
  top: number,
  bottom: number,
): { path: string; points: Point[] } {
  let path = '';
  let isOpen = false;
  const points: Point[] = [];
  values.forEach((value, at) => {
    const column = columns[at];
    if (value === null || !column) {
      isOpen = false;
      return;
    }
    const x = column.x + column.w / 2;
    const y = bottom - Math.min(1, Math.max(0, value)) * (bottom - top);
    path += `${isOpen ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`;
    isOpen = true;
    points.push({ x, y, at });
  });
  return { path, points };
}
