// An excerpt of a search, cut at what was found: the server puts found words between U+2068 and U+2069. Pure.

export interface Piece {
  text: string;
  isHit: boolean;
}

export function pieces(excerpt: string): Piece[] {
  return excerpt
    .split(/(\u2068[^\u2069]*\u2069?)/)
    .filter((part) => part !== '')
    .map((part) => ({ text: part.replace(/[\u2068\u2069]/g, ''), isHit: part.startsWith('\u2068') }));
}
