// Where the page begins: styles, settings, then the shell.
import { mount } from 'svelte';
import App from './App.svelte';
import './tokens.css';
import './base.css';
import './controls.css';
import { keepPrefs } from './state/prefs.svelte';

keepPrefs();
const target = document.getElementById('app');
if (target) mount(App, { target });

// For an installed page. Nothing depends on it, so a refusal is no news.
if (import.meta.env.PROD && 'serviceWorker' in navigator) void navigator.serviceWorker.register('/sw.js').catch(() => {});
