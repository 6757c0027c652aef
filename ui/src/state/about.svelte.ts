// What the server is: its version, and whether scripted agents answer. Read once after signing in.
import { api, take } from '../api/client';
import type { components } from '../api/schema';

export type About = components['schemas']['About'];

class ServerAbout {
  is = $state.raw<About | null>(null);

  get rehearsal(): NonNullable<About['rehearsal']> | null {
    return this.is?.rehearsal ?? null;
  }

  async load(): Promise<void> {
    this.is = await take(api.GET('/api/v1/about'));
  }
}

export const about = new ServerAbout();
