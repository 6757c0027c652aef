// What lies over the page: palette or map of keys. One at a time.

export type Overlay = 'palette' | 'keys';

class Overlays {
  shown = $state<Overlay | null>(null);

  open(what: Overlay): void {
    this.shown = what;
  }

  close(): void {
    this.shown = null;
  }
}

export const overlays = new Overlays();
