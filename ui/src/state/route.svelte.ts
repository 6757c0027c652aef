// Where the page is. History without a hash; a plain link to a page of ours does not load anything anew.
import { isServers, parse, shown, type Route } from './paths';

export { to } from './paths';

class Router {
  /** What the address means. Narrow it by `at.page`. */
  at = $state.raw<Route>(parse(location.pathname, location.search));
  /** Where the page was before a dialog like `/new` was laid over it. */
  below = $state.raw<Route>({ page: 'inbox', approval: null });
  belowPath = '/';

  /** Which page. */
  get page(): Route['page'] {
    return this.at.page;
  }

  /** The session of the address, where it names one. */
  get id(): string | null {
    return 'id' in this.at ? this.at.id : null;
  }

  constructor() {
    addEventListener('popstate', () => this.read());
    document.addEventListener('click', (event) => this.clicked(event));
    this.remember(this.at);
  }

  go(path: string, how: { replace?: boolean } = {}): void {
    if (shown(path, location.href) === location.pathname + location.search) return;
    if (how.replace) history.replaceState(null, '', path);
    else history.pushState(null, '', path);
    this.read();
  }

  private read(): void {
    const at = parse(location.pathname, location.search);
    this.at = at;
    this.remember(at);
  }

  // Takes it as given: an effect that calls `go` must not depend on where it goes.
  private remember(at: Route): void {
    if (at.page === 'new') return;
    this.below = at;
    this.belowPath = location.pathname + location.search;
  }

  private clicked(event: MouseEvent): void {
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!isPlain || event.defaultPrevented || !(event.target instanceof Element)) return;
    const link = event.target.closest('a');
    if (!link || link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (isServers(link.pathname)) return;
    event.preventDefault();
    this.go(link.pathname + link.search);
  }
}

export const route = new Router();
export const go = (path: string, how?: { replace?: boolean }): void => route.go(path, how);
