// Sets the chosen scheme before anything is drawn. The rest of the settings is read by state/prefs.
(() => {
  try {
    const theme = JSON.parse(localStorage.getItem('countersign.prefs') ?? '{}').theme;
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // No storage: the system's scheme it is.
  }
})();
