// Makes the page installable, opens it while the server is away, and brings it forward when one of its notifications is pressed. Keeps
// only the shell: the page itself and files whose names hold a hash. Never anything of the API, and never a login.
const CACHE = 'shell-1';
const MOST = 80;

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => {
  const gone = caches.keys().then((keys) => Promise.all(keys.filter((key) => key !== CACHE).map((key) => caches.delete(key))));
  event.waitUntil(gone.then(() => self.clients.claim()));
});

/** Is it ours to keep? */
function kept(url) {
  return url.origin === location.origin && (/^\/assets\/.+-[0-9a-z]{8,}\.\w+$/.test(url.pathname) || ['/theme.js', '/icon.svg', '/icon-192.png', '/app.webmanifest'].includes(url.pathname));
}

function isPage(request, url) {
  return request.mode === 'navigate' && url.origin === location.origin && !/^\/(api|plain|login|healthz|readyz|metrics)(\/|$|\.)/.test(url.pathname);
}

async function put(key, response) {
  const cache = await caches.open(CACHE);
  await cache.put(key, response);
  const keys = await cache.keys();
  for (const old of keys.slice(0, Math.max(0, keys.length - MOST))) await cache.delete(old);
}

/** The network first, what was kept if there is none. */
async function fresh(request, key) {
  try {
    const response = await fetch(request);
    if (response.ok && response.type === 'basic' && !response.redirected) await put(key, response.clone());
    return response;
  } catch (error) {
    const old = await caches.match(key);
    if (old) return old;
    throw error;
  }
}

/** A name with a hash never changes its content. */
async function once(request) {
  return (await caches.match(request)) ?? fresh(request, request);
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET') return;
  if (isPage(request, url)) event.respondWith(fresh(request, '/'));
  else if (kept(url)) event.respondWith(url.pathname.startsWith('/assets/') ? once(request) : fresh(request, request));
});

/** A page that is open goes there by itself, so that nothing that is written on it is lost. */
async function bringForward(path) {
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const page = pages.find((one) => !/^\/(plain|login)(\/|$)/.test(new URL(one.url).pathname));
  if (!page) return void (await self.clients.openWindow(path));
  page.postMessage({ open: path });
  await page.focus();
}

self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(bringForward(event.notification.data?.path ?? '/inbox'));
});
