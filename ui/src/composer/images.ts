// Pictures for a message: from a paste, a drop or a file. They travel as content blocks of the wire, in front of the text.
// Keeps: only kinds the model takes, at most MOST of them, none larger than LARGEST.

import type { MessageBody } from '../api/types';

type Block = NonNullable<MessageBody['blocks']>[number];

export interface Picture { id: string; name: string; type: string; data: string; url: string }

const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const MOST = 10;
const LARGEST = 5 * 1024 * 1024;

/** Why a file cannot come along; none if it can. */
export function refusal(file: { type: string; size: number; name: string }, count: number): string | null {
  if (!TYPES.includes(file.type)) return `${file.name || 'It'} is not a picture the model can read (PNG, JPEG, GIF, WebP).`;
  if (file.size > LARGEST) return `${file.name || 'It'} is larger than 5 MiB.`;
  return count >= MOST ? `At most ${MOST} pictures go with one message.` : null;
}

export async function read(file: File): Promise<Picture> {
  const data = await new Promise<string>((done, failed) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => done(String(reader.result).replace(/^data:[^,]*,/, '')));
    reader.addEventListener('error', () => failed(new Error(`${file.name} cannot be read.`)));
    reader.readAsDataURL(file);
  });
  return { id: crypto.getRandomValues(new Uint32Array(2)).join('-'), name: file.name, type: file.type, data, url: `data:${file.type};base64,${data}` };
}

/** The block of the wire. */
export function blockOf(picture: Picture): Block {
  return { type: 'image', source: { type: 'base64', media_type: picture.type, data: picture.data } };
}
