// How much room there is. The breakpoints of the design, for what CSS alone cannot decide.

const wide = matchMedia('(min-width: 1200px)');
const phone = matchMedia('(max-width: 767px)');
const touch = matchMedia('(pointer: coarse)');

class Room {
  /** A panel fits beside the page. */
  isWide = $state(wide.matches);
  isPhone = $state(phone.matches);
  /** What points is a finger: the keyboard is on the screen. */
  isTouch = $state(touch.matches);
  /** On narrower screens the panel is a drawer. */
  isDrawerOpen = $state(false);

  constructor() {
    wide.addEventListener('change', () => (this.isWide = wide.matches));
    touch.addEventListener('change', () => (this.isTouch = touch.matches));
    phone.addEventListener('change', () => (this.isPhone = phone.matches));
  }
}

export const screen = new Room();
