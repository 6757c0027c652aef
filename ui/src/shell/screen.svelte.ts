// How much room there is. The breakpoints of the design, for what CSS alone cannot decide.

const wide = matchMedia('(min-width: 1200px)');
const phone = matchMedia('(max-width: 767px)');

class Room {
  /** A panel fits beside the page. */
  isWide = $state(wide.matches);
  isPhone = $state(phone.matches);
  /** On narrower screens the panel is a drawer. */
  isDrawerOpen = $state(false);

  constructor() {
    wide.addEventListener('change', () => (this.isWide = wide.matches));
    phone.addEventListener('change', () => (this.isPhone = phone.matches));
  }
}

export const screen = new Room();
