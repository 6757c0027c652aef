// What cannot wait for the page's own script: the chosen scheme, before anything is drawn, and the first questions to the server, which
// it can answer while the script is loaded. The rest of the settings is read by state/prefs, the answers are taken by api/early.
(() => {
  try {
    const theme = JSON.parse(localStorage.getItem('countersign.prefs') ?? '{}').theme;
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // No storage: the system's scheme it is.
  }
  const paths = ['/api/v1/me'];
  const session = /^\/s\/([^/]+)(?:\/e\/[^/]+)?$/.exec(location.pathname);
  if (session) paths.push(`/api/v1/sessions/${session[1]}`, `/api/v1/sessions/${session[1]}/transcript?most=100`);
  const ask = (path) => [path, fetch(path, { credentials: 'same-origin' }).catch(() => null)];
  globalThis.countersignAsked = { at: performance.now(), answers: Object.fromEntries(paths.map(ask)) };
})();
