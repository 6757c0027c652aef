// The models that the CLI offers, under the names it gives them. Read when they are first wanted.
import { api, take } from '../api/client';

export interface Model {
  value: string;
  name: string;
  hint: string;
}

/** The CLI's own list, of which only the parts with a value can be chosen. */
export function readModels(items: readonly object[]): Model[] {
  return items.flatMap((item) => {
    const { value, displayName, description } = item as Record<string, unknown>;
    if (typeof value !== 'string') return [];
    const name = typeof displayName === 'string' ? displayName : value;
    return [{ value, name, hint: typeof description === 'string' ? description : '' }];
  });
}

class Models {
  all = $state.raw<Model[]>([]);

  async load(): Promise<void> {
    const named = await take(api.GET('/api/v1/models'));
    this.all = readModels(named.items as object[]);
  }
}

export const models = new Models();
