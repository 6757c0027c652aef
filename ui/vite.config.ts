// How the page is bundled. Rules: nothing inline (the server's policy forbids it), names with a hash a browser may keep for good.
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

const daemon = process.env['COUNTERSIGN_SERVER'] ?? 'http://127.0.0.1:4779';

// The daemon takes writes from its own pages only, so the proxy speaks for them: `npm run dev` and `npm run preview` work like the built page.
const proxied = { target: daemon, changeOrigin: true, headers: { origin: daemon } };
const proxy = { '/api': proxied, '/login': proxied, '/plain': proxied };

export default defineConfig({
  plugins: [svelte()],
  // Workers load languages when they need them, so they are modules.
  worker: { format: 'es' },
  build: {
    target: 'es2022',
    outDir: process.env['COUNTERSIGN_UI_OUT'] ?? 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Which files a first view loads; budget.mjs reads it.
    manifest: true,
    rollupOptions: { output: { hashCharacters: 'base36' } },
  },
  server: { proxy },
  preview: { proxy },
});
